package terrarium

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
)

// TemplateHash is Terrarium's hash of a pod template, of its JSON with sorted keys. Kubernetes hashes a dump of its Go
// structures.
func TemplateHash(template *v1.PodTemplateSpec, collisionCount *int32) string {
	text, err := sortedJSON(template)
	if err != nil {
		Problemf("a pod template cannot be hashed: %v", err)
	}
	hasher := fnv.New32a()
	hasher.Write(text)
	if collisionCount != nil {
		var count [8]byte
		binary.LittleEndian.PutUint32(count[:], uint32(*collisionCount))
		hasher.Write(count[:])
	}
	return rand.SafeEncodeString(fmt.Sprint(hasher.Sum32()))
}

func sortedJSON(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var document any // maps are encoded with sorted keys
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	var sorted bytes.Buffer
	encoder := json.NewEncoder(&sorted)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(document)
	return bytes.TrimSpace(sorted.Bytes()), err
}

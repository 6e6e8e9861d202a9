// The precompiled header targets need a source; what counts is what the compiler includes before it.

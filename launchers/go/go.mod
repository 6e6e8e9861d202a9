module terrarium.dev/launcher

go 1.21

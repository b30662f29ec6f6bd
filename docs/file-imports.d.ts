// Files embedded in the executable and read on demand: the import is the path.
declare module '*.md' {
  const path: string
  export = path
}

declare module '*.png' {
  const path: string
  export = path
}

declare module '*/svc.service' {
  const path: string
  export = path
}

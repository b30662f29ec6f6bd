// Files embedded in the executable and read on demand: the import is the path.
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export = path
}

declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export = path
}

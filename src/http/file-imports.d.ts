// Files that the executable carries and reads when they are asked for: the import is the path.
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export = path
}

declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export = path
}

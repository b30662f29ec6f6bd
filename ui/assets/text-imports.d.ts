// Files that the executable contains as text: `import css from './app.css' with { type: 'text' }`.
declare module '*.css' {
  const text: string
  export = text
}

declare module '*.svg' {
  const text: string
  export = text
}

declare module '*/app.js' {
  const text: string
  export = text
}

declare module '*/show-password.js' {
  const text: string
  export = text
}

declare module '*/publishing.js' {
  const text: string
  export = text
}

declare module '../islands/*' {
  const text: string
  export = text
}

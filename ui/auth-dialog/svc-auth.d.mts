/** Imported as text: `import script from './svc-auth.mjs' with { type: 'text' }`. */
declare const text: string
// biome-ignore lint/style/noDefaultExport: what an import of text gives
export default text

declare module 'mime-types' {
  /** By extension, without its dot. */
  export const types: Readonly<Record<string, string>>
}

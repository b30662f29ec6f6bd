import manifest from '../package.json' with { type: 'json' }

// scripts/build.ts defines them.
declare const SVC_VERSION: string | undefined
declare const SVC_PUBLIC_KEY: string | undefined

/** Of the release that this is, else of package.json. */
export const VERSION: string = typeof SVC_VERSION === 'string' ? SVC_VERSION : manifest.version

/** Base64 of the Ed25519 public key that releases are trusted by. Null in what is no release. contract 19.1 */
export const PUBLIC_KEY: string | null = typeof SVC_PUBLIC_KEY === 'string' ? SVC_PUBLIC_KEY : null

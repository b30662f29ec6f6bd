import type { KeyObject } from 'node:crypto'
import type { ReleaseConfig } from './config.ts'

export const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'windows-x64'] as const
export type Platform = (typeof PLATFORMS)[number]

/** What is being made. Each artefact is a function of it that writes below `out`. */
export type Release = {
  version: string
  /** Of the checkout; null outside of one. */
  commit: string | null
  publishedAt: string
  /** The section of CHANGELOG.md, else empty. */
  notes: string
  platforms: readonly Platform[]
  config: ReleaseConfig
  /** Signs SHA256SUMS. */
  key: KeyObject
  /** Base64 of the 32 bytes of its public half, which is in the executables. */
  publicKey: string
  /** The folder of this project. */
  root: string
  out: string
}

export type Artefact = (release: Release) => Promise<void>

export const executableName = (platform: Platform): string =>
  `svc-${platform}${platform === 'windows-x64' ? '.exe' : ''}`

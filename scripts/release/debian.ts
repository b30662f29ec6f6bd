import type { Platform, Release } from './release.ts'
import { preReleaseOf } from './version.ts'

/** What Debian and Docker call the processors of Linux. */
export const CPUS = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' } as const

export type LinuxPlatform = keyof typeof CPUS

export const linuxPlatforms = ({ platforms }: Release): LinuxPlatform[] => platforms.filter(isLinux)

const isLinux = (platform: Platform): platform is LinuxPlatform => platform in CPUS

/**
 * The version as Debian sorts it: with a tilde a pre-release comes before its release. A further dash would begin a revision of
 * the package.
 */
export function debVersionOf(version: string): string {
  const sorted = preReleaseOf(version) === undefined ? version : version.replace('-', '~')
  return sorted.replaceAll('-', '.')
}

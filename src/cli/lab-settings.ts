import { loadConfig } from '../config/config.ts'
import { readExtraCas } from '../platform/outbound/ca.ts'
import type { Io } from './command.ts'

/** What the operator of a server would set: private backends that rules may reach, and their CA. contract §1. */
export const LAB_OPTIONS = {
  'proxy-allowed-targets': { type: 'string' },
  'node-extra-ca-certs': { type: 'string' },
} as const

export type LabFlags = { [name in keyof typeof LAB_OPTIONS]?: string | undefined }

export const LAB_HELP = `  --proxy-allowed-targets LIST  private hosts, host:port or CIDRs that rules may reach; else PROXY_ALLOWED_TARGETS
  --node-extra-ca-certs FILE    the CA of such backends, in PEM; else NODE_EXTRA_CA_CERTS`

/** For `openLab`, a flag first. Throws `ConfigError` now, so that nothing begins to watch with a bad setting. */
export function labSettings(flags: LabFlags, env: Io['env']): Record<string, string> {
  const settings = {
    PROXY_ALLOWED_TARGETS: flags['proxy-allowed-targets'] ?? env['PROXY_ALLOWED_TARGETS'] ?? '',
    NODE_EXTRA_CA_CERTS: flags['node-extra-ca-certs'] ?? env['NODE_EXTRA_CA_CERTS'] ?? '',
  }
  const { nodeExtraCaCerts } = loadConfig({ env: settings })
  if (nodeExtraCaCerts !== null) readExtraCas(nodeExtraCaCerts)
  return settings
}

/** For what goes on until it is stopped: models may be asked elsewhere, as the server will. */
export const devSettings = (flags: LabFlags, env: Io['env']): Record<string, string> => ({
  ...labSettings(flags, env),
  ...Object.fromEntries(ELSEWHERE.map((name) => [name, env[name] ?? ''])),
})

const ELSEWHERE = ['AI_OPENAI_URL', 'AI_ANTHROPIC_URL', 'AI_GOOGLE_URL', 'AI_DAILY_TOKENS']

import { type Config, ConfigError } from '../../config/config.ts'
import { machineConflict, storeWarning } from '../../config/store.ts'
import { createLog } from '../../platform/log.ts'
import { keepToOurselves, systemNow } from '../open-context.ts'
import type { Workspace } from '../workspace.ts'
import { requireCertificateKey } from './certificate-key.ts'
import { openStore } from './open-store.ts'
import { Roles } from './roles.ts'

/** The workspace in an object store, on a machine that takes the role that `ROLE` and the other machines leave it. contract 18 §1, §5. */
export async function openStoredWorkspace(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<Workspace> {
  requireCertificateKey(config)
  const conflict = machineConflict(config)
  if (conflict !== null) throw new ConfigError(conflict)
  keepToOurselves()
  const log = createLog({ level: config.logLevel, format: config.logFormat, now: systemNow, write })
  const warning = storeWarning(config)
  if (warning !== null) log.warn(warning)
  const opened = openStore(config, systemNow, Bun.randomUUIDv7())
  const roles = new Roles({ config, version, write, log, ...opened })
  await roles.start()
  return roles
}

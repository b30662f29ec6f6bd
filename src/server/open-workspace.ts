import { type Config, ConfigError } from '../config/config.ts'
import { isCopy } from '../platform/copy-of-store.ts'
import { createApp } from './app.ts'
import { startDuties } from './duties.ts'
import { openContext } from './open-context.ts'
import { prepare } from './prepare.ts'
import type { Workspace } from './workspace.ts'

/** A data directory, or the workspace in the object store that the settings name. */
export async function openWorkspace(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<Workspace> {
  if (config.storeUrl !== null)
    return (await import('./store/open-workspace.ts')).openStoredWorkspace(config, version, write)
  refuseCopy(config.dataDir)
  return openDirectory(config, version, write)
}

async function openDirectory(
  config: Config,
  version: string,
  write: (text: string) => void,
): Promise<Workspace> {
  const { ctx, listensOn, close } = await openContext(config, version, write)
  await prepare(ctx)
  let stopDuties = async () => {}
  return {
    serving: { ctx, app: createApp(ctx), storage: null, certificates: null },
    listensOn,
    async begin() {
      stopDuties = await startDuties(ctx)
    },
    end: () => stopDuties(),
    close: async () => close(),
  }
}

/** Its database would go on without the store, and most contents are not there. */
function refuseCopy(dataDir: string): void {
  if (isCopy(dataDir))
    throw new ConfigError(
      `${dataDir} is a copy of a workspace in an object store: set STORE_URL, or choose another DATA_DIR, into which svc restore s3://… puts the workspace`,
    )
}

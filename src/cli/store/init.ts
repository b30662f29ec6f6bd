import type { Config } from '../../config/config.ts'
import { initStore } from '../../platform/object-store/init.ts'
import { CommandFailure, EXIT, type Io } from '../command.ts'
import { onStore } from './open.ts'

export const init = (config: Config, createsBucket: boolean, io: Io): Promise<number> =>
  onStore(config, async (store) => {
    if (createsBucket) await store.createBucket()
    const made = await initStore(store, Bun.randomUUIDv7(), Date.now())
    if (!('id' in made))
      throw new CommandFailure(`STORE_URL is not empty: it holds "${made.foundKey}"; nothing was changed`)
    io.stdout.write(`${made.id}\n`)
    return EXIT.ok
  })

import { type Config, ConfigError } from '../../config/config.ts'
import { storeAccess } from '../../config/store-access.ts'
import type { StoreOptions } from '../object-store.ts'

/** The store that the settings name. Throws `ConfigError` without one. */
export function storeOf(config: Config): Omit<StoreOptions, 'now' | 'writer'> {
  if (config.storeUrl === null)
    throw new ConfigError('STORE_URL is missing: name the store, as s3://bucket or s3://bucket/prefix')
  return storeAccess(config, config.storeUrl, 'STORE_URL')
}

import { type Config, ConfigError } from '../../config/config.ts'
import type { StoreOptions } from '../object-store.ts'

/** The store that the settings name. Throws `ConfigError` without one. */
export function storeOf(config: Config): Omit<StoreOptions, 'now' | 'writer'> {
  const { storeUrl, storeAccessKey, storeSecretKey } = config
  if (storeUrl === null || storeAccessKey === null || storeSecretKey === null)
    throw new ConfigError('STORE_URL is missing: name the store, as s3://bucket or s3://bucket/prefix')
  return {
    ...storeUrl,
    endpoint: config.storeEndpoint,
    region: config.storeRegion,
    accessKey: storeAccessKey,
    secretKey: storeSecretKey,
    timeoutMs: config.storeTimeoutSeconds * 1000,
  }
}

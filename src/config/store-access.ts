import { ConfigError } from './config.ts'
import { missingKey, type StoreConfig, type StoreUrl } from './store.ts'

/** What opens a bucket. Throws a `ConfigError` that says what `what` lacks. */
export function storeAccess(config: StoreConfig, at: StoreUrl, what: string) {
  const { storeAccessKey, storeSecretKey } = config
  if (storeAccessKey === null || storeSecretKey === null)
    throw new ConfigError(missingKey(config, what) ?? `${what} has no key`)
  return {
    ...at,
    endpoint: config.storeEndpoint,
    region: config.storeRegion,
    accessKey: storeAccessKey,
    secretKey: storeSecretKey,
    timeoutMs: config.storeTimeoutSeconds * 1000,
  }
}

/** The settings of the store as variables, for a process of our own. */
export function storeEnv(config: StoreConfig & { nodeExtraCaCerts: string | null }): Record<string, string> {
  const { storeUrl } = config
  const env = {
    STORE_URL: storeUrl === null ? null : `s3://${storeUrl.bucket}/${storeUrl.prefix}`,
    STORE_ENDPOINT: config.storeEndpoint,
    STORE_REGION: config.storeRegion,
    STORE_ACCESS_KEY: config.storeAccessKey,
    STORE_SECRET_KEY: config.storeSecretKey,
    STORE_TIMEOUT_SECONDS: String(config.storeTimeoutSeconds),
    NODE_EXTRA_CA_CERTS: config.nodeExtraCaCerts,
  }
  return Object.fromEntries(Object.entries(env).filter((one): one is [string, string] => one[1] !== null))
}

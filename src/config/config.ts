import type { Cidr } from '../domain/ip-ranges.ts'
import { ACME_DNS_OPTIONS, type AcmeDnsConfig, acmeDnsConflict, envOfPrograms } from './acme-dns.ts'
import { ACME_EAB_OPTIONS, type AcmeEabConfig, acmeEabConflict } from './acme-eab.ts'
import { backupConflict } from './backup-dir.ts'
import { BODY_OPTIONS, type BodyConfig } from './bodies.ts'
import { CDN_OPTIONS, type CdnConfig, cdnConflict } from './cdn.ts'
import { MODELS_OPTIONS, type ModelsConfig } from './models.ts'
import { PIPELINES_OPTIONS, type PipelinesConfig } from './pipelines.ts'
import { STORE_OPTIONS, type StoreConfig, storeConflict } from './store.ts'
import { TLS_OPTIONS, type TlsConfig, tlsConflict } from './tls.ts'
import { UPKEEP_OPTIONS, type UpkeepConfig } from './upkeep.ts'
import {
  addressList,
  boolean,
  byteSize,
  cidrList,
  email,
  hostName,
  listenAddress,
  type OidcProvider,
  oidcProviders,
  oneOf,
  type PlainOption,
  password,
  publicUrl,
  secretKey,
  smtpUrl,
  targetList,
  text,
  wholeNumber,
} from './values.ts'

export type { OidcProvider } from './values.ts'

/** All settings with name, type, default and a line of help; nothing else reads the environment. contract §1. */
export type Config = TlsConfig &
  AcmeEabConfig &
  AcmeDnsConfig &
  UpkeepConfig &
  BodyConfig &
  PipelinesConfig &
  ModelsConfig &
  StoreConfig &
  CdnConfig & {
    port: number
    host: string
    dataDir: string
    baseDomain: string
    adminHost: string
    publicUrl: string | null
    trustProxy: readonly Cidr[]
    serverAddresses: readonly string[]
    secretKey: string | null
    setupToken: string | null
    adminEmail: string | null
    adminPassword: string | null
    requireProjectMembership: boolean | null
    privateSiteResponse: PrivateSiteResponse | null
    pictures: boolean | null
    rateLimitApi: number
    rateLimitUpload: number
    maxUploadBytes: number
    maxDeploymentFiles: number
    proxyAllowedTargets: readonly string[]
    nodeExtraCaCerts: string | null
    smtpUrl: string | null
    smtpFrom: string | null
    oidcProviders: readonly OidcProvider[]
    logLevel: LogLevel
    logFormat: LogFormat
  }

export type PrivateSiteResponse = 'not_found' | 'login'
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'
export type LogFormat = 'pretty' | 'json'

/** An invalid setting. The process exits with 78. */
export class ConfigError extends Error {}

type Option<T> = Omit<PlainOption<T>, 'fallback'> & {
  fallback: (soFar: Partial<Config>, isTerminal: boolean) => T
}

const none = () => null

const OPTIONS: { [K in keyof Config]: Option<Config[K]> } = {
  // First, because other defaults depend on them.
  ...TLS_OPTIONS,
  ...ACME_EAB_OPTIONS,
  ...ACME_DNS_OPTIONS,
  port: {
    env: 'PORT',
    help: 'port of the listener',
    shownDefault: '3000, or 443 with TLS on',
    fallback: (soFar) => (soFar.tls === 'off' ? 3000 : 443),
    parse: wholeNumber(0, 65_535),
  },
  host: {
    env: 'HOST',
    help: 'address of the listener',
    shownDefault: '0.0.0.0',
    fallback: () => '0.0.0.0',
    parse: listenAddress,
  },
  dataDir: {
    env: 'DATA_DIR',
    help: 'folder of all persistent data: svc.db, blobs/, secret.key, certs/, tmp/',
    shownDefault: './data',
    fallback: () => './data',
    parse: text,
  },
  baseDomain: {
    env: 'BASE_DOMAIN',
    help: 'the workspace parent domain; sites live one label below it',
    shownDefault: 'localhost',
    fallback: () => 'localhost',
    parse: hostName,
  },
  adminHost: {
    env: 'ADMIN_HOST',
    help: 'host of the API and the admin',
    shownDefault: 'admin.<BASE_DOMAIN>, or localhost',
    fallback: (soFar) => (soFar.baseDomain === 'localhost' ? 'localhost' : `admin.${soFar.baseDomain}`),
    parse: hostName,
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    help: 'scheme, host and port of links, if there is a proxy in front',
    shownDefault: 'that of the listener',
    fallback: none,
    parse: publicUrl,
  },
  trustProxy: {
    env: 'TRUST_PROXY',
    help: 'CIDRs of proxies whose X-Forwarded-For, -Proto and -Host are trusted',
    shownDefault: 'none',
    fallback: () => [],
    parse: cidrList,
  },
  serverAddresses: {
    env: 'SERVER_ADDRESSES',
    help: 'Addresses at which others reach this server, for the records that a domain is shown',
    shownDefault: 'the public ones of the machine',
    fallback: () => [],
    parse: addressList,
  },
  secretKey: {
    env: 'SECRET_KEY',
    help: '32 bytes in base64, the encryption key of stored secrets',
    shownDefault: 'generated in DATA_DIR/secret.key',
    secret: true,
    fallback: none,
    parse: secretKey,
  },
  setupToken: {
    env: 'SETUP_TOKEN',
    help: 'token required by POST /api/setup/complete',
    shownDefault: 'generated at each start while there is no admin',
    secret: true,
    fallback: none,
    parse: text,
  },
  adminEmail: {
    env: 'ADMIN_EMAIL',
    help: 'email of the first admin, created if there is none',
    shownDefault: 'none',
    fallback: none,
    parse: email,
  },
  adminPassword: {
    env: 'ADMIN_PASSWORD',
    help: 'password of the first admin',
    shownDefault: 'none',
    secret: true,
    fallback: none,
    parse: password,
  },
  requireProjectMembership: {
    env: 'FEATURE_REQUIRE_PROJECT_MEMBERSHIP',
    help: 'the membership gate; overrides the stored setting',
    shownDefault: 'unset',
    fallback: none,
    parse: boolean,
  },
  privateSiteResponse: {
    env: 'PRIVATE_SITE_RESPONSE',
    help: 'response to anonymous visitors of a private site: not_found or login',
    shownDefault: 'not_found',
    fallback: none,
    parse: oneOf('not_found', 'login'),
  },
  pictures: {
    env: 'PICTURES',
    help: 'small pictures of the sites on pages of the admin: on or off; overrides the stored setting',
    shownDefault: 'unset',
    fallback: none,
    parse: boolean,
  },
  rateLimitApi: {
    env: 'RATE_LIMIT_API',
    help: 'API requests per minute and address; 0 for no limit',
    shownDefault: '100',
    fallback: () => 100,
    parse: wholeNumber(0, 1_000_000_000),
  },
  rateLimitUpload: {
    env: 'RATE_LIMIT_UPLOAD',
    help: 'uploads per minute and key; 0 for no limit',
    shownDefault: '10',
    fallback: () => 10,
    parse: wholeNumber(0, 1_000_000_000),
  },
  maxUploadBytes: {
    env: 'MAX_UPLOAD_BYTES',
    help: 'maximum size of an upload, as sent and unpacked',
    shownDefault: '2147483648 (2 GiB)',
    fallback: () => 2 ** 31,
    parse: byteSize,
  },
  maxDeploymentFiles: {
    env: 'MAX_DEPLOYMENT_FILES',
    help: 'maximum number of files in a deployment',
    shownDefault: '50000',
    fallback: () => 50_000,
    parse: wholeNumber(1, 10_000_000),
  },
  ...PIPELINES_OPTIONS,
  ...MODELS_OPTIONS,
  proxyAllowedTargets: {
    env: 'PROXY_ALLOWED_TARGETS',
    help: 'private hosts, host:port or CIDRs that proxy rules and webhooks may reach',
    shownDefault: 'none',
    fallback: () => [],
    parse: targetList,
  },
  nodeExtraCaCerts: {
    env: 'NODE_EXTRA_CA_CERTS',
    help: 'PEM file of additional CAs for proxied backends',
    shownDefault: 'none',
    fallback: none,
    parse: text,
  },
  smtpUrl: {
    env: 'SMTP_URL',
    help: 'mail server, smtp://user:password@host:587',
    shownDefault: 'none: admins pass on links themselves',
    secret: true,
    fallback: none,
    parse: smtpUrl,
  },
  smtpFrom: {
    env: 'SMTP_FROM',
    help: 'sender of mails',
    shownDefault: 'svc@<BASE_DOMAIN>',
    fallback: none,
    parse: text,
  },
  oidcProviders: {
    env: 'OIDC_PROVIDERS',
    help: 'JSON list of { id, displayName, issuer, clientId, clientSecret, scopes?, trustEmail? }',
    shownDefault: 'none',
    secret: true,
    fallback: () => [],
    parse: oidcProviders,
  },
  logLevel: {
    env: 'LOG_LEVEL',
    help: 'debug, info, warn, error or silent',
    shownDefault: 'info',
    fallback: () => 'info',
    parse: oneOf('debug', 'info', 'warn', 'error', 'silent'),
  },
  logFormat: {
    env: 'LOG_FORMAT',
    help: 'pretty or json',
    shownDefault: 'pretty on a terminal, else json',
    fallback: (_soFar, isTerminal) => (isTerminal ? 'pretty' : 'json'),
    parse: oneOf('pretty', 'json'),
  },
  ...BODY_OPTIONS,
  ...UPKEEP_OPTIONS,
  ...STORE_OPTIONS,
  ...CDN_OPTIONS,
}

type Source = {
  env: Readonly<Record<string, string | undefined>>
  /** Flags by option name (`base-domain` → `baseDomain`); they override the environment. */
  flags?: Readonly<Record<string, string | undefined>>
  isTerminal?: boolean
}

/**
 * Reads and validates every setting. Throws a one-line `ConfigError` with the variable, its value and what is allowed.
 */
export function loadConfig({ env, flags = {}, isTerminal = false }: Source): Config {
  const config: Record<string, unknown> = {}
  for (const [key, option] of Object.entries(OPTIONS)) {
    const given = flags[key] ?? env[option.env]
    config[key] =
      given === undefined || (given === '' && flags[key] === undefined)
        ? option.fallback(config, isTerminal)
        : parseOption(option, given.trim())
  }
  if ((config['adminEmail'] === null) !== (config['adminPassword'] === null))
    throw new ConfigError('ADMIN_EMAIL and ADMIN_PASSWORD belong together: set both or neither')
  const conflict =
    tlsConflict(config as Config) ??
    acmeEabConflict(config as Config) ??
    acmeDnsConflict(config as Config) ??
    storeConflict(config as Config) ??
    backupConflict(config as Config) ??
    cdnConflict(config as Config)
  if (conflict !== null) throw new ConfigError(conflict)
  return withProgramEnv(config as Config, env)
}

function withProgramEnv(config: Config, env: Source['env']): Config {
  if (config.acmeDnsExec === null) return config
  const settings = new Set(Object.values(OPTIONS).map((option) => option.env))
  return { ...config, acmeDnsExec: { ...config.acmeDnsExec, env: envOfPrograms(env, settings) } }
}

function parseOption(option: Option<unknown>, given: string): unknown {
  const parsed = option.parse(given)
  if ('value' in parsed) return parsed.value
  const shown = option.secret ? '(hidden)' : `"${given}"`
  throw new ConfigError(`${option.env} is ${shown}, but must be ${parsed.expected}`)
}

/**
 * Lets `parseArgs` accept every setting as a flag: the variable's name in kebab-case. `isHidden`: its value is never shown in
 * messages.
 */
export const configFlags: Record<string, { type: 'string'; key: string; isHidden: boolean }> =
  Object.fromEntries(
    Object.entries(OPTIONS).map(([key, { env, secret }]) => [
      env.toLowerCase().replaceAll('_', '-'),
      { type: 'string' as const, key, isHidden: secret === true },
    ]),
  )

/** One line per setting for `svc help serve`, what everybody sets first. */
export function configHelp(): string {
  const { port, host, dataDir, baseDomain, ...others } = OPTIONS
  return [port, host, dataDir, baseDomain, ...Object.values(others)]
    .map(({ env, help, shownDefault }) => `  ${env.padEnd(36)}${help} (default: ${shownDefault})`)
    .join('\n')
}

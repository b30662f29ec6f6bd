import { UsageError } from '../command.ts'
import { type GivenFlags, givenFlags } from '../settings.ts'
import { ENV_FILE } from './paths.ts'

export type InstallOptions = {
  root: string | undefined
  isDryRun: boolean
  starts: boolean
  isForced: boolean
  isJson: boolean
  given: GivenFlags
}

/** Throws `UsageError` for a secret, too: other users of the machine see the command line. */
export function installOptions(args: string[]): InstallOptions {
  const given = givenFlags(args, {
    root: { type: 'string' },
    'dry-run': { type: 'boolean' },
    'no-start': { type: 'boolean' },
    force: { type: 'boolean' },
    json: { type: 'boolean' },
  })
  const { values, words, byName } = given
  if (words.length > 0) throw new UsageError(`it takes flags only, not "${words[0]}"`)
  const secret = Object.keys(byName).find(isSecret)
  if (secret !== undefined)
    throw new UsageError(
      `${secret} is a secret, and other users can read a command line: write ${secret}=… into ${ENV_FILE}, which only root may read`,
    )
  return {
    root: rootIn(values['root']),
    isDryRun: values['dry-run'] === true,
    starts: values['no-start'] !== true,
    isForced: values['force'] === true,
    isJson: values['json'] === true,
    given,
  }
}

export function rootIn(value: string | boolean | undefined): string | undefined {
  if (value === '') throw new UsageError('--root needs a folder')
  return typeof value === 'string' ? value : undefined
}

/** contract 19.3. */
export const isSecret = (name: string): boolean =>
  /^(ADMIN_PASSWORD|SMTP_URL|OIDC_PROVIDERS)$|(^|_)(SECRET|TOKEN|SECRET_KEY|HMAC_KEY)$/.test(name)

import { resolve } from 'node:path'
import { isEmail } from '../domain/email.ts'
import { PASSWORD_RULE, passwordFlaw } from '../domain/password-rule.ts'
import { type Command, CommandFailure, EXIT, type Io, UsageError } from './command.ts'
import { isOfStore, onWorkspace } from './on-workspace.ts'
import { hasDatabase, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'

type Verb = {
  /** Whether accounts must exist already. */
  needsDatabase: boolean
  needsPassword: boolean
  done(email: string): string
}

const VERBS = {
  create: {
    needsDatabase: false,
    needsPassword: true,
    done: (email) => `${email} is an administrator now`,
  },
  'reset-password': {
    needsDatabase: true,
    needsPassword: true,
    done: (email) => `${email} has a new password`,
  },
  'reset-mfa': {
    needsDatabase: true,
    needsPassword: false,
    done: (email) => `${email} signs in with the password alone now`,
  },
  suspend: {
    needsDatabase: true,
    needsPassword: false,
    done: (email) => `${email} is suspended: signed out everywhere, and nothing lets them in`,
  },
  unsuspend: {
    needsDatabase: true,
    needsPassword: false,
    done: (email) => `${email} may sign in again`,
  },
} as const satisfies Record<string, Verb>

const isVerb = (name: string): name is keyof typeof VERBS => Object.hasOwn(VERBS, name)

export const adminCommand: Command = {
  summary: 'Create an admin, set a password, turn off a lost second step, suspend; on the data directory',
  usage: `usage: svc admin create EMAIL [--data-dir ./data]
       svc admin reset-password EMAIL [--data-dir ./data]
       svc admin reset-mfa EMAIL [--data-dir ./data]
       svc admin suspend EMAIL [--data-dir ./data]
       svc admin unsuspend EMAIL [--data-dir ./data]

create makes an administrator; reset-password sets a new password and ends the account's sessions; reset-mfa turns off
two-step sign-in for somebody who lost the app and the recovery codes, and ends the account's sessions.
suspend signs somebody out everywhere and lets nothing of theirs in, keys included; unsuspend lets them in again, with the
roles and projects that they had.
A password is asked for, or read as one line from stdin. It is never a flag. The server may be running; it
must be where the workspace is in an object store, as it does the work then.`,
  verbs: Object.keys(VERBS),
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    const [name = '', email, ...others] = words
    if (!isVerb(name) || email === undefined || others.length > 0)
      throw new UsageError('name what to do, and the email')
    if (!isEmail(email)) throw new UsageError(`"${email}" is not an email address`)
    const verb: Verb = VERBS[name]
    if (verb.needsDatabase) requireDatabase(config)
    const password = verb.needsPassword ? { password: await readNewPassword(io) } : {}
    // With the wrong folder, nobody would notice until signing in fails.
    const where =
      hasDatabase(config) || isOfStore(config) ? '' : `, in the new data directory ${resolve(config.dataDir)}`
    await onWorkspace(config, io, `admin ${name}`, { email, ...password })
    io.stderr.write(`${verb.done(email)}${where}\n`)
    return EXIT.ok
  },
}

async function readNewPassword(io: Io): Promise<string> {
  const password = await io.readPassword(`Password (${PASSWORD_RULE}): `)
  if (password === undefined) throw new CommandFailure('no password was given on stdin')
  const flaw = passwordFlaw(password)
  if (flaw !== null) throw new CommandFailure(`give ${flaw}`)
  return password
}

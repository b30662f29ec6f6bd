import { resolve } from 'node:path'
import type { Context } from '../context.ts'
import { isEmail } from '../domain/email.ts'
import { PASSWORD_RULE, passwordFlaw } from '../domain/password-rule.ts'
import { resetSecondStep } from '../modules/account/second-step.ts'
import { setPassword } from '../modules/auth/set-password.ts'
import { createAccount } from '../modules/users/service.ts'
import { type Command, CommandFailure, EXIT, type Io, UsageError } from './command.ts'
import { hasDatabase, onDataDir, requireDatabase } from './operator.ts'
import { settingsOf } from './settings.ts'

const OPERATOR = { kind: 'operator' } as const

type Verb = {
  /** Whether accounts must exist already. */
  needsDatabase: boolean
  /** The work on the data directory, once every answer it needs was given. */
  prepare(email: string, io: Io): Promise<(ctx: Context) => unknown>
  done(email: string): string
}

const VERBS: Readonly<Record<string, Verb>> = {
  create: {
    needsDatabase: false,
    async prepare(email, io) {
      const password = await readNewPassword(io)
      return (ctx) => createAccount(ctx, { email, password, role: 'admin' }, OPERATOR)
    },
    done: (email) => `${email} is an administrator now`,
  },
  'reset-password': {
    needsDatabase: true,
    async prepare(email, io) {
      const password = await readNewPassword(io)
      return (ctx) => setPassword(ctx, email, password, OPERATOR)
    },
    done: (email) => `${email} has a new password`,
  },
  'reset-mfa': {
    needsDatabase: true,
    prepare: async (email) => (ctx) => resetSecondStep(ctx, email, OPERATOR),
    done: (email) => `${email} signs in with the password alone now`,
  },
}

export const adminCommand: Command = {
  summary: 'Create an admin, set a password or turn off a lost second step, on the data directory',
  usage: `usage: svc admin create EMAIL [--data-dir ./data]
       svc admin reset-password EMAIL [--data-dir ./data]
       svc admin reset-mfa EMAIL [--data-dir ./data]

create makes an administrator; reset-password sets a new password and ends the account's sessions; reset-mfa turns off
two-step sign-in for somebody who lost the app and the recovery codes, and ends the account's sessions.
A password is asked for, or read as one line from stdin. It is never a flag. The server may be running.`,
  verbs: Object.keys(VERBS),
  async run(args, io) {
    const { config, words } = settingsOf(args, io)
    const [name = '', email, ...others] = words
    const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
    if (verb === undefined || email === undefined || others.length > 0)
      throw new UsageError('name what to do, and the email')
    if (!isEmail(email)) throw new UsageError(`"${email}" is not an email address`)
    if (verb.needsDatabase) requireDatabase(config)
    const work = await verb.prepare(email, io)
    // With the wrong folder, nobody would notice until signing in fails.
    const where = hasDatabase(config) ? '' : `, in the new data directory ${resolve(config.dataDir)}`
    await onDataDir(config, io, work)
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

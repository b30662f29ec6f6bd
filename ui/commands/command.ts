import type { Caller, Context } from '../../src/context.ts'
import type { SessionUser } from '../../src/domain/actor.ts'

/** Who is to get the commands. */
export type Person = { ctx: Context; request: Request; caller: Caller; user: SessionUser }

/** What a command does: opens a page, copies a text, sends a form, or shows the keys. */
export type Does =
  | { kind: 'open'; href: string }
  | { kind: 'copy'; text: string }
  | { kind: 'send'; action: string; fields: Readonly<Record<string, string>> }
  | { kind: 'keys' }

/** `id` names the same thing each time, so that a browser knows what was used last. */
export type Command = { id: string; name: string; group: string; does: Does }

/** A command that this person may have; undefined if not. Asked only of those that are shown. */
export type Candidate = Omit<Command, 'does'> & { doing: () => Does | undefined }

export const opens = (href: string): Does => ({ kind: 'open', href })

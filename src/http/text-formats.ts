import { FormatRegistry } from '@sinclair/typebox'
import { emailFlaw } from '../domain/email.ts'
import { passwordFlaw } from '../domain/password-rule.ts'

/** Texts that no pattern describes. Each says what a text must be and is not; null for a good one. */
const FLAWS = { 'email-address': emailFlaw, 'new-password': passwordFlaw } as const

/** For the `format` of a schema. */
export type TextFormat = keyof typeof FLAWS

for (const [name, flaw] of Object.entries(FLAWS)) FormatRegistry.Set(name, (text) => flaw(text) === null)

/** What is wrong with a value that a schema of such a format refuses; null for other formats and other types. */
export const flawOf = (format: unknown, value: unknown): string | null =>
  typeof value === 'string' && isTextFormat(format) ? FLAWS[format](value) : null

const isTextFormat = (format: unknown): format is TextFormat =>
  typeof format === 'string' && Object.hasOwn(FLAWS, format)

import type { TSchema } from 'typebox'
import type { ErrorDetail } from '../../domain/errors.ts'

/**
 * A text of the configuration that its handler renders, once it knows how to escape. Only such a text is ever a template:
 * one that an expression found may hold tags of a visitor.
 */
export class BodyTemplate {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A value of the configuration that differs from element to element of a list. */
export class Each {
  /** As it is written in the rule. */
  readonly written: unknown
  readonly #resolve: (item: unknown) => unknown

  constructor(written: unknown, resolve: (item: unknown) => unknown) {
    this.written = written
    this.#resolve = resolve
  }

  /** The value for an element. An object lacks the keys whose expression names a path that the element does not have. */
  of(item: unknown): unknown {
    return this.#resolve(item)
  }
}

/** What a rule may say of one kind of step. The manual is generated from this, so every text here appears in it. */
export type Handler<Name extends string = string> = {
  /** The names in rules; the first is the preferred one. */
  names: readonly [Name, ...string[]]
  summary: string
  /** Describes the output. */
  result: string
  /** The keys of `config` with their descriptions, except the condition, which every step may have. */
  config: TSchema
  /**
   * Whether a text is neither template nor expression. `path` leads to it from `config`. Such a text at `body` arrives as
   * a `BodyTemplate`.
   */
  isLiteral?: (path: readonly string[], text: string) => boolean
  /**
   * Keys that are worked out for each element of a list, which is `steps.item` there. They arrive as `Each`.
   */
  forEach?: readonly string[]
  /** Keys that name, literally, a field which the schema of the step must have. */
  ownFields?: readonly string[]
  /** The configuration as it runs, of the one in the rule: with defaults that are expressions, and short forms in full. */
  prepare?: (config: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** Checks what the schema cannot express. The configuration may violate the schema. */
  check?: (config: Readonly<Record<string, unknown>>) => ErrorDetail[]
  /** Finds what is written out and makes every run fail, such as code that is no JavaScript. As for `check`. */
  foresee?: (config: Readonly<Record<string, unknown>>) => ErrorDetail[]
}

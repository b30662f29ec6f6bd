import type { Static, TSchema } from 'elysia'

/** A service's input type for a body: optional values may also be undefined, as in the form of a page. */
export type InputOf<Body extends TSchema> = Loose<Static<Body>>

type Loose<T> = T extends readonly (infer Item)[]
  ? Loose<Item>[]
  : T extends object
    ? { [Key in keyof T]: IsOptional<T, Key> extends true ? Loose<T[Key]> | undefined : Loose<T[Key]> }
    : T

type IsOptional<T, Key extends keyof T> = Partial<Pick<T, Key>> extends Pick<T, Key> ? true : false

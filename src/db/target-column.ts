import { customType } from 'drizzle-orm/sqlite-core'
import { isApiOfOriginal } from '../domain/target-shape.ts'

/** No target has a space. */
const MARK = ' http'

/**
 * The target of a rule. The table wants https of every proxy; one that is kept and never called is written as such, with a
 * mark behind it.
 */
export const targetText = customType<{ data: string; driverData: string }>({
  dataType: () => 'text',
  toDriver: (target) => (isApiOfOriginal(target) ? `${target.replace(/^http:/, 'https:')}${MARK}` : target),
  fromDriver: (stored) =>
    stored.endsWith(MARK) ? stored.slice(0, -MARK.length).replace(/^https:/, 'http:') : stored,
})

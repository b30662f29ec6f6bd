import { describe, expect, test } from 'bun:test'
import { ACCESS_COOKIE, cookieValues, hasSessionCookie } from './cookies.ts'

describe('cookieValues', () => {
  const cases: [header: string | null, values: string[]][] = [
    [null, []],
    ['', []],
    ['sAccessToken=a', ['a']],
    ['x=1; sAccessToken=a; sAccessToken=b', ['a', 'b']],
    ['x=1;sAccessToken= a ;y=2', ['a']],
    ['sAccessToken=', ['']],
    ['xsAccessToken=a; sAccessTokenx=b; saccesstoken=c', []],
    ['sAccessToken =a', []],
    ['sAccessToken\u00a0=a', []],
    ['sAccessToken', []],
    ['=sAccessToken=a', []],
  ]
  test.each(cases)('%p holds %p', (header, values) => {
    expect(cookieValues(header, ACCESS_COOKIE)).toEqual(values)
    // Otherwise a session could count that the check for forged requests does not see.
    if (values.length > 0) expect(hasSessionCookie(header)).toBe(true)
  })
})

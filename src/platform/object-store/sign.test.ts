import { expect, test } from 'bun:test'
import { sha256, signed } from './sign.ts'

test('the example of AWS has the signature that its manual prints', () => {
  const headers = signed(
    {
      method: 'GET',
      host: 'examplebucket.s3.amazonaws.com',
      path: '/test.txt',
      query: {},
      headers: { range: 'bytes=0-9' },
      payload: sha256(''),
    },
    {
      region: 'us-east-1',
      accessKey: 'AKIAIOSFODNN7EXAMPLE',
      secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    },
    Date.UTC(2013, 4, 24),
  )
  expect(headers['authorization']).toEndWith(
    'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

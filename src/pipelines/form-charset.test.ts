import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type PipelineApp, pipelineApp, step } from '../testing/pipeline-app.ts'

let app: PipelineApp
beforeAll(async () => {
  app = await pipelineApp()
})
afterAll(() => app.close())

const form = step('form', 'form_handler', {
  fields: { name: { type: 'string' }, größe: { type: 'string' }, _charset_: { type: 'string' } },
})
const steps = [form, step('answer', 'response_handler', { body: { form: 'steps.form', input: 'input' } })]
type Sent = { status: number; body: Record<string, unknown> }
const urlencoded = (body: BodyInit, more = '') =>
  app.answer(steps, {
    body,
    headers: { 'content-type': `application/x-www-form-urlencoded${more}` },
  }) as Promise<Sent>
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const named = (name: string) => ({ name, größe: null, _charset_: null })

/** `name` in each encoding, its bytes in hex. */
const ENCODED: [label: string, hex: string, text: string][] = [
  ['iso-8859-1', '4772f6df65', 'Größe'],
  ['ISO-8859-1', '4772f6df65', 'Größe'],
  ['latin1', '80', '€'],
  ['windows-1252', '4772f6df65', 'Größe'],
  ['iso-8859-15', 'a4', '€'],
  ['iso-8859-2', 'b1', 'ą'],
  ['windows-1251', 'cff0e8e2e5f2', 'Привет'],
  ['koi8-r', 'f0d2c9d7c5d4', 'Привет'],
  ['shift_jis', '836583588367', 'テスト'],
  ['euc-jp', 'a5c6a5b9a5c8', 'テスト'],
  ['iso-2022-jp', '1b2442254625391b2842', 'テス'],
  ['gbk', 'c4e3bac3', '你好'],
  ['gb18030', 'c4e3', '你'],
  ['big5', 'a741', '你'],
  ['euc-kr', 'b0a1', '가'],
  ['utf-8', 'c3b6', 'ö'],
  [' UTF8 ', 'c3b6', 'ö'],
]
const escaped = (hex: string) => hex.replace(/../g, '%$&')

describe('urlencoded forms', () => {
  test.each(ENCODED)('in %s, by the content type and by _charset_', async (label, hex, text) => {
    const ok = { status: 200, body: { form: named(text), input: { name: text } } }
    expect(await urlencoded(`name=${escaped(hex)}`, `; charset="${label.trim()}"`)).toEqual(ok)
    expect(await urlencoded(`_charset_=${encodeURIComponent(label)}&name=${escaped(hex)}`)).toEqual(ok)
    expect(await urlencoded(`name=${escaped(hex.toUpperCase())}&_charset_=${label.trim()}`)).toEqual(ok)
  })

  test('raw bytes are decoded as escaped ones are', async () => {
    const raw = bytes('name=Gr', [0xf6, 0xdf], 'e+x')
    expect((await urlencoded(raw, ';charset=latin1')).body['form']).toEqual(named('Größe x'))
    expect((await urlencoded(bytes('name=größe'))).body['form']).toEqual(named('größe'))
    expect((await urlencoded(raw)).status).toBe(400)
  })

  test('names are decoded, too', async () => {
    const { body } = await urlencoded('gr%F6%DFe=%FC', '; charset=iso-8859-1')
    expect(body['input']).toEqual({ größe: 'ü' })
  })

  test.each([
    ['name=Gr%F6%DFe', '', 'name', 'UTF-8'],
    ['a=1&name=%C3', '', 'name', 'UTF-8'],
    ['name=%ED%A0%80', '', 'name', 'UTF-8'],
    ['name=%C0%AF', '; charset=utf-8', 'name', 'UTF-8'],
    ['name=%83', '; charset=shift_jis', 'name', 'SHIFT_JIS'],
    ['name=%A1&_charset_=iso-8859-6', '', 'name', 'ISO-8859-6'],
    ['name=%F6', '; charset=utf-8', 'name', 'UTF-8'],
    ['name=%F6&_charset_=latin1', '; charset=utf-8', 'name', 'UTF-8'],
    ['name=x', '; charset=klingon', '_charset_', 'klingon'],
    ['name=x&_charset_=iso-2022-kr', '', '_charset_', 'iso-2022-kr'],
  ])('%s%s is 400 naming the field', async (body, more, path, says) => {
    const answer = await urlencoded(body, more)
    expect(answer).toMatchObject({ status: 400, body: { step: 'form', details: [{ path }] } })
    expect(String(answer.body['message'])).toContain(says)
    expect(String(answer.body['message'])).toContain(path === 'name' ? 'name' : 'encoding')
  })

  test('nothing of it is stored, and a pipeline that does not look goes on', async () => {
    const schemaId = app.addSchema('names', [{ name: 'name', type: 'string' }])
    const create = step('made', 'data_create', { schemaId, fields: { name: 'input.name' } })
    const sent = {
      body: 'name=Gr%F6%DFe',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    expect((await app.answer([create], sent)).status).toBe(400)
    expect(app.stored(schemaId)).toEqual([])
    expect((await app.answer([step('a', 'response_handler', { body: { ok: true } })], sent)).status).toBe(200)
  })

  test('a lone percent sign stays, and an empty _charset_ says nothing', async () => {
    expect((await urlencoded('name=100%&_charset_=')).body['form']).toEqual(named('100%'))
    expect((await urlencoded('name=%zz%f&x_charset_=klingon')).body['form']).toEqual(named('%zz%f'))
  })
})

describe('queries', () => {
  const get = (search: string) =>
    app.answer(steps, { method: 'GET', path: `/api/x?${search}` }) as Promise<Sent>

  test('a form that is sent by GET says its encoding by _charset_', async () => {
    const { status, body } = await get('name=Gr%F6%DFe&_charset_=windows-1252')
    expect({ status, body }).toEqual({
      status: 200,
      body: { form: named('Größe'), input: { name: 'Größe' } },
    })
  })

  test('bytes that do not fit are 400 in a form_handler, and keep no other pipeline from running', async () => {
    expect(await get('name=Gr%F6%DFe')).toMatchObject({ status: 400, body: { details: [{ path: 'name' }] } })
    const other = [step('a', 'response_handler', { body: { q: 'request.query.a' } })]
    const answer = await app.answer(other, { method: 'GET', path: '/api/x?a=1&b=%ff' })
    expect(answer).toEqual({ status: 200, body: { q: '1' } })
  })
})

describe('multipart forms', () => {
  const part = (name: string, content: string | number[], type = '') =>
    bytes(
      `--b\r\ncontent-disposition: form-data; name="${name}"\r\n`,
      type === '' ? '' : `content-type: ${type}\r\n`,
      '\r\n',
      content,
      '\r\n',
    )
  const send = (parts: Buffer[], more = '') =>
    app.answer(steps, {
      body: Buffer.concat([...parts, Buffer.from('--b--\r\n')]),
      headers: { 'content-type': `multipart/form-data; boundary=b${more}` },
    }) as Promise<Sent>
  const SIZE = [0x47, 0x72, 0xf6, 0xdf, 0x65]

  test.each<[string, Buffer[], string]>([
    ['of the part', [part('name', SIZE, 'text/plain; charset=iso-8859-1')], ''],
    ['of the body', [part('name', SIZE)], '; charset=windows-1252'],
    ['_charset_ before', [part('_charset_', 'iso-8859-1'), part('name', SIZE)], ''],
    ['_charset_ behind', [part('name', SIZE), part('_charset_', 'ISO-8859-1')], ''],
    ['of the part over the others', [part('name', SIZE, 'text/plain;charset=latin1')], '; charset=koi8-r'],
    ['none: UTF-8', [part('name', 'Größe', 'text/plain')], ''],
  ])('are decoded by the encoding %s', async (_, parts, more) => {
    const { status, body } = await send(parts, more)
    expect({ status, body }).toEqual({
      status: 200,
      body: { form: named('Größe'), input: { name: 'Größe' } },
    })
  })

  test.each<[string, Buffer[], string, string]>([
    ['nothing is said', [part('name', SIZE)], '', 'name'],
    ['it is said to be UTF-8', [part('name', SIZE, 'text/plain; charset=utf-8')], '', 'name'],
    ['the label is unknown', [part('name', 'x', 'text/plain; charset=klingon')], '', '_charset_'],
    ['the label of the form is unknown', [part('_charset_', 'klingon'), part('name', 'x')], '', '_charset_'],
  ])('400 where %s', async (_, parts, more, path) => {
    expect(await send(parts, more)).toMatchObject({ status: 400, body: { details: [{ path }] } })
  })

  test('names behind _charset_ are decoded by it', async () => {
    const name = Buffer.concat([
      Buffer.from('--b\r\ncontent-disposition: form-data; name="gr'),
      Buffer.from([0xf6, 0xdf]),
      Buffer.from('e"\r\n\r\nx\r\n'),
    ])
    expect((await send([part('_charset_', 'latin1'), name])).body['input']).toEqual({ größe: 'x' })
    expect((await send([name])).status).toBe(400)
  })
})

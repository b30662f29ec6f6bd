import { describe, expect, test } from 'bun:test'
import type { FeedEntry } from './entry.ts'
import { FeedReader } from './feed-reader.ts'

const SOURCE = 'https://example.com/blog/feed.xml'

/** Reads a feed in pieces of so many characters. */
function read(xml: string, source: string | null = SOURCE, size = 64 * 1024): FeedEntry[] {
  const entries: FeedEntry[] = []
  const reader = new FeedReader(source, (entry) => entries.push(entry))
  for (let at = 0; at < xml.length; at += size) reader.write(xml.slice(at, at + size))
  reader.end()
  return entries
}
const rss = (items: string, more = '') =>
  `<?xml version="1.0"?><rss version="2.0" xmlns:itunes="i"><channel><title>The feed</title><link>https://example.org/</link>${more}${items}</channel></rss>`

const RSS = rss(`
  <item>
    <title>One &amp; two &#x1F600;</title><link>../one</link><guid isPermaLink="false">post-1</guid>
    <pubDate>Wed, 02 Oct 2024 15:00:00 +0200</pubDate><author>ann@example.com</author><dc:creator>Ann</dc:creator>
    <description>Short &lt;b&gt;text&lt;/b&gt;</description>
    <content:encoded><![CDATA[<p>Long ]] > text</p>]]></content:encoded>
    <enclosure url="/a.mp3" type="audio/mpeg" length="15728640"/><enclosure url="https://cdn.example.com/b" length="x"/>
    <enclosure type="none"/>
    <itunes:duration>00:32:10</itunes:duration><itunes:image href="https://example.com/i.png"/>
    <media:group><media:content url="a"/><media:content url="b">B</media:content></media:group>
    <category>not named</category>
  </item>
  <item><link>https://example.com/two</link><description>Only this</description><dc:date>2024-10</dc:date></item>
  <item/>`)
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Atom</title><link rel="self" href="https://example.com/a"/>
  <link href="https://example.org/"/>
  <entry><title type="html">A &lt;i&gt;</title><id>urn:1</id><link rel="enclosure" type="a/b" length="7" href="f.bin"/>
    <link rel="alternate" href="one"/><author><name>Bob</name><email>b@example.com</email></author>
    <published>2024-10-02T13:00:00Z</published><updated>2025-01-01T00:00:00Z</updated><summary>Short</summary>
    <content type="xhtml"><div xmlns="x">A <b>bold</b> &amp; &lt; "q"<br/></div></content></entry>
  <entry><link href="two"/><updated>2024-10-02T13:00:00.5+02:00</updated><summary>Sum</summary></entry></feed>`
const RDF = `<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="c"><title>RDF</title>
  <link>https://example.org/</link></channel>
  <item rdf:about="https://example.org/alpha"><title>Alpha</title><link>alpha</link><dc:creator>Carol</dc:creator>
    <dc:date>2024-10-01T12:00:00Z</dc:date><dc:subject>S</dc:subject></item></rdf:RDF>`

const ENTRIES: [string, string, unknown[]][] = [
  [
    'RSS 2.0',
    RSS,
    [
      {
        guid: 'post-1',
        title: 'One & two 😀',
        link: 'https://example.com/one',
        author: 'ann@example.com',
        publishedAt: '2024-10-02T13:00:00.000Z',
        content: '<p>Long ]] > text</p>',
        summary: 'Short <b>text</b>',
        enclosures: [
          { url: 'https://example.com/a.mp3', type: 'audio/mpeg', length: 15_728_640 },
          { url: 'https://cdn.example.com/b' },
        ],
        extensions: {
          'itunes:duration': '00:32:10',
          'itunes:image': { '@_href': 'https://example.com/i.png' },
          'media:group': { 'media:content': [{ '@_url': 'a' }, { '@_url': 'b', '#text': 'B' }] },
        },
      },
      {
        guid: 'https://example.com/two',
        link: 'https://example.com/two',
        publishedAt: '2024-10-01T00:00:00.000Z',
        content: 'Only this',
        summary: 'Only this',
        enclosures: [],
        extensions: {},
      },
      { enclosures: [], extensions: {} },
    ],
  ],
  [
    'Atom',
    ATOM,
    [
      {
        guid: 'urn:1',
        title: 'A <i>',
        link: 'https://example.com/blog/one',
        author: 'Bob',
        publishedAt: '2024-10-02T13:00:00.000Z',
        content: '<div xmlns="x">A <b>bold</b> &amp; &lt; &quot;q&quot;<br/></div>',
        summary: 'Short',
        enclosures: [{ url: 'https://example.com/blog/f.bin', type: 'a/b', length: 7 }],
        extensions: {},
      },
      {
        guid: 'https://example.com/blog/two',
        link: 'https://example.com/blog/two',
        publishedAt: '2024-10-02T11:00:00.500Z',
        content: 'Sum',
        summary: 'Sum',
        enclosures: [],
        extensions: {},
      },
    ],
  ],
  [
    'RDF',
    RDF,
    [
      {
        guid: 'https://example.org/alpha',
        title: 'Alpha',
        link: 'https://example.com/blog/alpha',
        author: 'Carol',
        publishedAt: '2024-10-01T12:00:00.000Z',
        enclosures: [],
        extensions: { 'dc:subject': 'S' },
      },
    ],
  ],
]

test.each(ENTRIES)('%s is read, in one piece and character by character', (_, xml, expected) => {
  expect(read(xml) as unknown[]).toEqual(expected)
  expect(read(xml, SOURCE, 1) as unknown[]).toEqual(expected)
  expect(read(xml, SOURCE, 7) as unknown[]).toEqual(expected)
})

test('without an address links are relative to the link of the feed', () => {
  expect(read(RSS, null)[0]?.link).toBe('https://example.org/one')
  expect(read(ATOM, null)[0]?.link).toBe('https://example.org/one')
})

test('a prefix of the whole feed is none of its names', () => {
  const prefixed = ATOM.replaceAll(/<(\/?)(feed|entry|title|id|link|author|name)\b/g, '<$1a:$2')
  expect(read(prefixed)[0]).toMatchObject({ title: 'A <i>', guid: 'urn:1', author: 'Bob' })
})

test.each([
  ['Wed, 02 Oct 2002 13:00:00 GMT', '2002-10-02T13:00:00.000Z'],
  ['2 Oct 02 13:00 EST', '2002-10-02T18:00:00.000Z'],
  ['Wednesday, 2 October 1999 13:00:00 +0000', '1999-10-02T13:00:00.000Z'],
  ['2024-10-02', '2024-10-02T00:00:00.000Z'],
  ['2024-10-02 13:00:00', '2024-10-02T13:00:00.000Z'],
  ['yesterday', undefined],
  ['12', undefined],
  ['2024-13-40T00:00:00Z', undefined],
  ['Wed, 32 Oct 2002 13:00:00 GMT', undefined],
])('the date %s is %s', (text, expected) => {
  expect(read(rss(`<item><pubDate>${text}</pubDate></item>`))[0]?.publishedAt).toBe(expected)
})

describe('what is no feed, or tries something', () => {
  const bomb = (depth: number) =>
    Array.from({ length: depth }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};&a${i};&a${i};">`).join('')
  const item = '<item><title>&a9;</title></item>'

  test.each([
    ['nothing', '', 'is no XML'],
    ['a text', 'hello', 'is no XML'],
    ['JSON', '{"entries":[]}', 'is no XML'],
    ['a page', '<!doctype html><html><body>hi<br></body></html>', 'is no feed: it begins with <html>'],
    ['a feed that is cut off', RSS.slice(0, 900), 'ends before </'],
    ['tags that cross', rss('<item><title></item></title>'), 'closes </item> where </title> must be'],
    ['an end of nothing', `${rss('')}</rss>`, 'closes </rss>, which is not open'],
    ['two documents', rss('') + rss(''), 'has two elements at the top'],
    ['text behind it', `${rss('')}x`, 'is no XML'],
    [
      'a bomb of entities',
      `<!DOCTYPE rss [<!ENTITY a0 "ha">${bomb(9)}]>${rss(item)}`,
      'has a document type with declarations of its own',
    ],
    [
      'an external entity',
      `<!DOCTYPE rss [<!ENTITY a9 SYSTEM "file:///etc/passwd">]>${rss(item)}`,
      'has a document type with declarations of its own',
    ],
    [
      'declarations behind a quoted >',
      `<!DOCTYPE rss SYSTEM "a>b" [<!ENTITY a9 "x">]>${rss(item)}`,
      'is no XML',
    ],
    ['a declaration inside', rss(`<!ENTITY a9 "x">${item}`), 'has a declaration where none may be'],
    ['deep nesting', rss(`<item>${'<a>'.repeat(200)}`), 'is nested more than 100 levels deep'],
    [
      'too many elements in an entry',
      rss(`<item>${'<a/>'.repeat(10_001)}</item>`),
      'has an entry with more than 10000 elements',
    ],
    ['too many entries', rss('<item/>'.repeat(5001)), 'has more than 5000 entries'],
    [
      'too many attributes',
      rss(`<item ${Array.from({ length: 200 }, (_, i) => `a${i}=""`).join(' ')}/>`),
      'has an element with more than 100 attributes',
    ],
  ])('%s is told', (_, xml, message) => {
    expect(() => read(xml)).toThrow(message)
    expect(() => read(xml, SOURCE, 5)).toThrow(message)
  })

  test('5000 entries are read', () => {
    expect(read(rss('<item/>'.repeat(5000)))).toHaveLength(5000)
  })

  test('an entity that XML does not have stays as it is written, and a document type without declarations is no fault', () => {
    const xml = rss('<item><title>a&nbsp;b &lt;&gt;&quot;&apos;&amp;&#65;&#0;&#xD800;</title></item>')
    const old = '<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://my.netscape.com/rss-0.91.dtd">'
    expect(read(`\ufeff${xml.replace('?>', `?>${old}`)}`)[0]?.title).toBe('a&nbsp;b <>"\'&A\ufffd\ufffd')
  })

  test('names that objects have of their own are names like others', () => {
    const xml = rss('<item><x:a><__proto__>p</__proto__><constructor>c</constructor></x:a></item>')
    expect(JSON.stringify(read(xml)[0]?.extensions)).toBe('{"x:a":{"__proto__":"p","constructor":"c"}}')
  })
})

const NAMES =
  'Ada Berg,Noah Lindqvist,Mei Tanaka,Luca Ferrari,Hanna Vogel,Omar Haddad,Sofia Almeida,Jan de Wit,Priya Nair,Elin Dahl,Tomás Ruiz,Claire Moreau,Anton Novak,Yara Costa,Finn O’Brien'.split(
    ',',
  )

const NOTES = [
  'Fog until noon, then the whole valley at once. Worth every step.',
  'We came for one night and stayed for three. Thank you for the soup!',
  'The stove smokes a little when the wind is from the west. Left dry wood by the door.',
  'First time above two thousand metres, with blisters and a very large grin.',
  'Saw an ibex at the spring just before six. Nobody believed us at breakfast.',
  'The pen is running out. We left a new one on the string.',
  'Snow on the last hundred metres; take the left path.',
  'My grandfather signed this book in 1968. Now there are two of us in it.',
]

const pick = <T>(list: readonly T[], at: number): T => {
  const one = list[at % list.length]
  if (one === undefined) throw new Error('an empty list')
  return one
}

/** A note for the wall. */
export const noteOf = (n: number) => ({ name: pick(NAMES, n * 7 + 2), text: pick(NOTES, n * 3 + 1) })

/** A stay at the hut. */
export function visitOf(n: number) {
  const name = pick(NAMES, n * 11 + (n >> 4))
  const mailbox = name
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z ]/g, '')
    .replaceAll(' ', '.')
  const arrival = new Date(Date.UTC(2026, 4, 1) + ((n * 37) % 150) * 86_400_000).toISOString().slice(0, 10)
  return { name, email: `${mailbox}@example.net`, nights: 1 + ((n * 5) % 4), arrival, breakfast: n % 3 !== 0 }
}

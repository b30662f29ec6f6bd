/** Which addresses of a project search engines may list. contract 13 §5. */
export const INDEXINGS = ['production', 'all', 'none'] as const

export type Indexing = (typeof INDEXINGS)[number]

/** `own`: the host of the alias `production`, or a mapped domain. `other`: any other host, and every path form. */
export type SitePlaceKind = 'own' | 'other'

/** Whether answers ask search engines not to list them. */
export const isNoindex = (indexing: Indexing, place: SitePlaceKind): boolean =>
  indexing === 'none' || (indexing === 'production' && place === 'other')

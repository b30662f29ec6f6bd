/** A piece of the text, in order. `kind` is null if it has no colour. */
export type Piece = { text: string; kind: PieceKind | null }
export type PieceKind = 'keyword' | 'string' | 'value' | 'comment' | 'name'

export type Language = 'html' | 'css' | 'javascript' | 'typescript' | 'json' | 'yaml' | 'markdown'

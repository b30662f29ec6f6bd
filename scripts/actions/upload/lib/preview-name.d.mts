/** What `svc deploy` and `svc preview` use of it; the implementation beside it is checked against this. */
export function autoPreviewName(from: {
  pullRequest: number | undefined
  branch: string | undefined
}): string | undefined

export function isPreviewName(text: string): boolean

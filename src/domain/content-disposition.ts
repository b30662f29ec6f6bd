/** `Content-Disposition` of a download with this name, whatever characters it has. RFC 6266 §4.3, RFC 8187. */
export function attachmentNamed(name: string): string {
  const plain = name.replaceAll(/[^ -~]|["\\]/gu, '_')
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded(name)}`
}

const encoded = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )

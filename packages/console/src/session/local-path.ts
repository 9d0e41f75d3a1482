/** A path of this site, from the address bar: never another site. */
export const localPath = (value: unknown): string | undefined =>
  typeof value === 'string' && /^\/(?![/\\])[^\\\s]{0,500}$/.test(value) ? value : undefined

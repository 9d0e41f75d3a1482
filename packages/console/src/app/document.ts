// The document around a rendered page. Everything that comes from elsewhere is escaped here.
import type { AnyRouteMatch } from '@tanstack/react-router'

export type Manifest = Record<string, { file: string; css?: string[]; imports?: string[]; isEntry?: boolean }>

const ENTRY = 'src/client.ts'
/** What the entry starts. */
const START = 'src/hydrate.tsx'
const NEEDS_SCRIPTS =
  '<noscript><p class="page note">This page needs JavaScript, because it acts for your wallet. Pages that only show the market do not.</p></noscript>'
const pageModule = (page: string): string => `src/pages/${page}/page.tsx`
const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: unknown): string =>
  String(text).replaceAll(/[&<>"']/g, (mark) => ESCAPES[mark] as string)

/** JSON inside an element: no text in it can end the element. */
const inElement = (json: string): string => json.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028')

const attributes = (values: object): string =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('')

interface Parts {
  manifest: Manifest
  theme: 'light' | 'dark' | undefined
  matches: readonly AnyRouteMatch[]
  body: string
  /** Needs JavaScript to do anything. */
  isPrivate: boolean
  state: unknown
}

export function documentOf({ manifest, theme, matches, body, isPrivate, state }: Parts): string {
  // The innermost page that has a title tells the head.
  const page = matches.findLast(({ meta }) => meta?.some((entry) => entry && 'title' in entry))
  const meta = (page?.meta ?? [{ title: 'Referrer' }]) as Record<string, string>[]
  const links = (page?.links ?? []) as Record<string, string>[]
  const scripts = (page?.headScripts ?? page?.scripts ?? []) as { type?: string; children?: string }[]
  const entry = moduleAt(manifest, ENTRY)
  const pages = matches.flatMap(({ staticData }) => staticData.page ?? []).map(pageModule)
  const preloads = modulesOf(manifest, [ENTRY, START, ...pages]).filter((file) => file !== entry.file)
  return `<!doctype html>
<html lang="en"${theme ? ` data-theme="${theme}"` : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme ?? 'light dark'}">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${meta.map(({ title, ...rest }) => (title === undefined ? `<meta${attributes(rest)}>` : `<title>${escaped(title)}</title>`)).join('\n')}
${links.map((link) => `<link${attributes(link)}>`).join('\n')}
${(entry.css ?? []).map((file) => `<link rel="stylesheet" href="/${file}">`).join('\n')}
${preloads.map((file) => `<link rel="modulepreload" href="/${file}">`).join('\n')}
<script type="module" src="/${entry.file}"></script>
${scripts.flatMap(({ type, children }) => (type === 'application/ld+json' && children ? [`<script type="application/ld+json">${inElement(children)}</script>`] : [])).join('\n')}
</head>
<body>
<div id="app">${body}</div>
${isPrivate ? NEEDS_SCRIPTS : ''}
<script type="application/json" id="state">${inElement(JSON.stringify(state))}</script>
</body>
</html>
`
}

/** Modules, and all that they import at once. */
function modulesOf(manifest: Manifest, keys: readonly string[]): string[] {
  const found = new Set<string>()
  const add = (key: string) => {
    if (found.has(key)) return
    found.add(key)
    moduleAt(manifest, key).imports?.forEach(add)
  }
  keys.forEach(add)
  return [...found].map((key) => moduleAt(manifest, key).file)
}

function moduleAt(manifest: Manifest, key: string): Manifest[string] {
  const found = manifest[key]
  if (!found) throw new Error(`the manifest of the console has no ${key}: build it again`)
  return found
}

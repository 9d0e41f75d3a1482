// What crawlers, chats and browsers' tabs show of a page.
const SITE = 'Referrer'

export interface PageHead {
  title: string
  description: string
  /** Path of the page, for the canonical address. */
  path: string
  /** Path of the preview picture, 1200 × 630. */
  image?: string
  /** schema.org; always escaped before it is written. */
  jsonLd?: object
  isHidden?: boolean
}

/** For the option `head` of a route. */
export function headOf(page: PageHead, origin: string) {
  const title = page.title === SITE ? SITE : `${page.title} · ${SITE}`
  const image = `${origin}${page.image ?? '/preview/market.png'}`
  return {
    meta: [
      { title },
      { name: 'description', content: page.description },
      ...(page.isHidden ? [{ name: 'robots', content: 'noindex' }] : []),
      { property: 'og:site_name', content: SITE },
      { property: 'og:type', content: 'website' },
      { property: 'og:title', content: page.title },
      { property: 'og:description', content: page.description },
      { property: 'og:url', content: `${origin}${page.path}` },
      { property: 'og:image', content: image },
      { property: 'og:image:width', content: '1200' },
      { property: 'og:image:height', content: '630' },
      { name: 'twitter:card', content: 'summary_large_image' },
    ],
    links: [{ rel: 'canonical', href: `${origin}${page.path}` }],
    scripts: page.jsonLd
      ? [
          {
            type: 'application/ld+json',
            children: JSON.stringify({ '@context': 'https://schema.org', ...page.jsonLd }),
          },
        ]
      : [],
  }
}

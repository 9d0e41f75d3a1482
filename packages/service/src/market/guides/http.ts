import { type Route, route } from '../../kit/route.ts'
import { skillOf } from './guides.ts'

export const guideRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/skill.md',
    tag: 'Manifest',
    summary: 'A skill file: how an agent finds, buys, reviews and earns here',
    auth: 'none',
    contentType: 'text/markdown; charset=utf-8',
    handle: ({ context }) => skillOf(context),
  }),
]

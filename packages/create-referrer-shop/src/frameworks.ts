export interface Framework {
  /** What the project needs beside the library. */
  dependencies: Record<string, string>
  dev: (port: number) => string
  start: (port: number) => string
  scripts?: Record<string, string>
  /** Arguments of node that run the shop. */
  serve: (port: number) => string[]
}

const SERVE = ['--env-file=.env', 'server.js']
const plain = (dependencies: Record<string, string>): Framework => ({
  dependencies,
  dev: () => `node --watch ${SERVE.join(' ')}`,
  start: () => `node ${SERVE.join(' ')}`,
  serve: () => SERVE,
})

export const FRAMEWORKS: Record<string, Framework> = {
  hono: plain({ '@hono/node-server': '^2.1.6', hono: '^4.13.17' }),
  express: plain({ express: '^5.3.0' }),
  fastify: plain({ fastify: '^5.12.8' }),
  next: {
    dependencies: { next: '^16.4.6', react: '^19.3.1', 'react-dom': '^19.3.1' },
    dev: (port) => `next dev --port ${port}`,
    start: (port) => `next start --port ${port}`,
    scripts: { build: 'next build' },
    serve: (port) => ['node_modules/next/dist/bin/next', 'dev', '--port', String(port)],
  },
}

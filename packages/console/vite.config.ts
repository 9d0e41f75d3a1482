import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig(({ isSsrBuild }) => ({
  root: import.meta.dirname,
  plugins: [react()],
  publicDir: 'public',
  build: {
    target: 'es2022',
    manifest: !isSsrBuild,
    // Data URIs would be a second way to load an image.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4_000,
    copyPublicDir: !isSsrBuild,
    rollupOptions: isSsrBuild ? {} : { input: 'src/client.ts' },
  },
  // What the server renders with comes along: the built console needs no packages beside it.
  ssr: { noExternal: true },
  logLevel: 'warn',
}))

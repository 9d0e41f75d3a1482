import { defineConfig } from 'rolldown'
import { notices } from './build/notices.ts'

export default defineConfig({
  input: 'src/bin.ts',
  platform: 'node',
  output: { dir: 'dist', format: 'esm', cleanDir: true },
  plugins: [notices()],
})

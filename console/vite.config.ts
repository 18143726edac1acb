import optimizeLocales from '@react-aria/optimize-locales-plugin'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The locales of the console's words. */
const locales = ['en-US', 'de-DE']

/**
 * React Aria adds a style to the page unless it finds an element with this id, and the page's policy forbids such styles. So the page's own
 * stylesheet, which holds the rule, carries the id.
 */
const pressableStyle: Plugin = {
  name: 'pressable-style',
  enforce: 'post',
  transformIndexHtml: {
    order: 'post',
    handler: (page) => page.replace('<link rel="stylesheet"', '<link id="react-aria-pressable-style" rel="stylesheet"'),
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  // No configuration beside this one: the build depends on what its hash covers.
  css: { postcss: {} },
  plugins: [react(), tailwind(), { ...optimizeLocales.vite({ locales }), enforce: 'pre' }, pressableStyle],
  build: {
    target: ['chrome123', 'safari17.5', 'firefox120'],
    // A file of its own: the page's policy lets it load only what the service serves.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    emptyOutDir: true,
    // Which file loads which, for the check of budgets.
    manifest: 'manifest.json',
    // Small files of their own weigh more than what pages share of these.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'parts', test: /console\/src\/(?:parts|time|me)\//, minShareCount: 5 }] },
      },
    },
  },
})

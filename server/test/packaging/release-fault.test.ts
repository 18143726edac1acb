import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { findReleaseFault } from '../../../packaging/release-fault.ts'

const changelog = '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-11-27\n\n### Added\n\n## 1.1.0 - 2026-02-28\n'
const kept = ['data-folder.zst', 'holds.json', 'sallyport.backup']
const candidate = { version: '1.2.0', changelog, changed: '', kept }
const titled = (...titles: string[]) => ({ ...candidate, changelog: titles.map((title) => `${title}\n`).join('') })

suite('a release', () => {
  const accepted = {
    'with its dated section': candidate,
    'without a section for what comes next': titled('## 1.2.0 - 2026-11-27'),
    'on a leap day': titled('## 1.2.0 - 2028-02-29'),
  }
  for (const [what, each] of Object.entries(accepted)) {
    test(`${what} is made`, () => assert.equal(findReleaseFault(each), undefined))
  }

  const refused: [string, Parameters<typeof findReleaseFault>[0], RegExp][] = [
    [
      'of a changed tree',
      { ...candidate, changed: ' M README.md\n' },
      /commit or undo what has changed:\n M README\.md$/,
    ],
    ['without a version', { ...candidate, version: '1.2' }, /is `1\.2`; write it as 1\.2\.3$/],
    ['without a section', { ...candidate, version: '1.3.0' }, /no section of 1\.3\.0; .* `## 1\.3\.0 - YYYY-MM-DD`$/],
    ['whose section has no date', titled('## 1.2.0'), /says `## 1\.2\.0`; give the section its date/],
    ['whose date is none', titled('## 1.2.0 - 2026-02-29'), /says `## 1\.2\.0 - 2026-02-29`; give/],
    ['whose date has another form', titled('## 1.2.0 - 27.11.2026'), /give the section its date/],
    ['whose date comes after something else', titled('## 1.2.0 of 2026-11-27'), /give the section its date/],
    [
      'without its data',
      { ...candidate, kept: ['holds.json'] },
      /1\.2\.0 lacks data-folder\.zst, sallyport\.backup; `node/,
    ],
    ['of an earlier version', { ...candidate, version: '1.1.0' }, /a newer section than that of 1\.1\.0; raise/],
  ]
  for (const [what, each, sentence] of refused) {
    test(`${what} is refused`, () => assert.match(findReleaseFault(each) ?? '', sentence))
  }
})

import { readFileSync } from 'node:fs'

const guide = new URL('../../../docs/guides/provisioner-postgresql.md', import.meta.url)

/**
 * The guide's SQL for this version of PostgreSQL, in order, as one text. `part`: only that about a person's login, about reserved
 * connections, about logins that are closed between grants, or that Sallyport makes; without: the rest.
 */
export function guideSql(major: number, part?: 'login' | 'reserved' | 'managed' | 'made'): string {
  const blocks = [...readFileSync(guide, 'utf8').matchAll(/^```sql(.*)\n([\s\S]*?)^```$/gm)]
  const version = major >= 16 ? '16' : '15'
  return blocks
    .filter(([, words = '']) => {
      const options = words.trim().split(' ').filter(Boolean)
      const versions = options.filter((word) => /^\d+$/.test(word))
      const its = options.find((word) => !versions.includes(word))
      return its === part && (versions.length === 0 || versions.includes(version))
    })
    .map(([, , text]) => text)
    .join('\n')
}

const withoutSallyport = new URL('../../../docs/guides/when-sallyport-is-down.md', import.meta.url)

/** The guide's SQL that ends access to a server without Sallyport, for this login. */
export function sqlByHand(login: string): string {
  const [, text = ''] = /^```sql target\n([\s\S]*?)^```$/m.exec(readFileSync(withoutSallyport, 'utf8')) ?? []
  return text.replaceAll('ada@example.com', login)
}

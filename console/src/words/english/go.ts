export const go = {
  title: 'Go anywhere',
  label: 'A page, your access, or what you need',
  results: 'Where to go',
  pages: 'Pages',
  found: (count: number) => (count === 1 ? '1 result' : `${count} results`),
  nothing: (text: string) => `Nothing matches “${text}”.`,
  keys: 'Arrow keys move, Enter goes there, Escape closes.',
}

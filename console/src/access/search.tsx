import { useQuery } from '@tanstack/react-query'
import { Search as SearchIcon } from 'lucide-react'
import { type ReactNode, useDeferredValue, useEffect, useState } from 'react'
import { Autocomplete, Input, Label, ListBox, ListBoxItem, TextField } from 'react-aria-components'
import { LoadFailure } from '../parts/list-states.tsx'
import { useSettled } from '../parts/settled.ts'
import { nameOf, readableId } from '../requests/request.ts'
import { useWords } from '../words/words.ts'
import { Answer } from './answer.tsx'
import type { Choice } from './choice.ts'
import { type Entry, keyOf } from './entry.ts'
import { catalogueQuery } from './queries.ts'

type SearchProps = {
  choose: (choice: Choice) => void
  /** Shown while nothing is searched for. */
  shortlist: ReactNode
}

/** Finds what the person may request: names, ids, actions and their descriptions, each by the beginning of a word. */
export function Search({ choose, shortlist }: SearchProps): ReactNode {
  const words = useWords().access.search
  const [text, setText] = useState('')
  const asked = useSettled(useDeferredValue(text.trim()))
  const { data: answer, error, refetch, isFetching } = useQuery({ ...catalogueQuery(asked), enabled: asked !== '' })
  const data = answer?.found
  // What a person searched for who pressed Enter before anything was found.
  const [hurried, setHurried] = useState<string>()
  const chooseEntry = (entry: Entry) => choose({ ...entry.resource, action: entry.action })
  const first = hurried === asked && hurried === text.trim() ? data?.[0] : undefined
  useEffect(() => {
    if (first !== undefined) choose({ ...first.resource, action: first.action })
  }, [first, choose])
  return (
    <section className="grid gap-3">
      <Autocomplete inputValue={text} onInputChange={setText} disableAutoFocusFirst={false}>
        <TextField type="search" aria-describedby="search-hint" className="grid gap-2" autoFocus>
          <Label className="text-sentence font-semibold">{words.label}</Label>
          <div
            onKeyDownCapture={(event) => {
              // Enter means the first result, also before the list has marked it.
              if (event.key !== 'Enter' || (event.target as Element).hasAttribute('aria-activedescendant')) return
              if (asked === text.trim() && data?.[0] !== undefined) chooseEntry(data[0])
              else setHurried(text.trim())
            }}
            className="flex h-12 items-center gap-2 rounded-control border border-control bg-surface px-3 focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent"
          >
            <SearchIcon size={20} strokeWidth={1.75} aria-hidden="true" className="shrink-0 text-text-3" />
            <Input className="h-full w-full min-w-0 bg-transparent text-sentence outline-none [&::-webkit-search-cancel-button]:hidden" />
          </div>
          <p id="search-hint" className="text-meta text-text-2">
            {words.hint}
          </p>
        </TextField>
        {asked !== '' && error === null && (
          <Results entries={data} text={asked} isFetching={isFetching || asked !== text.trim()} choose={chooseEntry} />
        )}
        {asked !== '' && error === null && answer?.hasMore && <p className="text-meta text-text-2">{words.more}</p>}
        {asked !== '' && error !== null && <LoadFailure error={error} retry={refetch} />}
      </Autocomplete>
      {asked === '' && shortlist}
    </section>
  )
}

type ResultsProps = {
  entries: readonly Entry[] | undefined
  text: string
  isFetching: boolean
  choose: (entry: Entry) => void
}

function Results({ entries, text, isFetching, choose }: ResultsProps): ReactNode {
  const words = useWords()
  const { search } = words.access
  const items = (entries ?? []).map((entry) => ({ key: keyOf(entry), entry }))
  return (
    <ListBox
      aria-label={search.results}
      items={items}
      className={`grid gap-px overflow-hidden rounded-card border border-line bg-surface ${isFetching && items.length > 0 ? 'opacity-60' : ''}`}
      onAction={(key) => {
        const chosen = items.find((item) => item.key === key)
        if (chosen !== undefined) choose(chosen.entry)
      }}
      renderEmptyState={() => (
        <p className="p-4 text-text-2">{isFetching ? words.lists.searching : search.nothing(text)}</p>
      )}
    >
      {({ key, entry }) => (
        <ListBoxItem
          id={key}
          textValue={`${nameOf(entry)} ${entry.action}`}
          className="grid cursor-pointer grid-cols-[1fr_auto] items-center gap-x-4 px-4 py-2 outline-none hover:bg-sunken data-[focused]:bg-accent-tint"
        >
          <span className="min-w-0 wrap-anywhere">
            <bdi className="font-medium">{nameOf(entry)}</bdi> · {entry.action}
          </span>
          <span className="row-start-2 min-w-0 text-meta text-text-2 wrap-anywhere">
            <span className="font-mono">{readableId(entry.resource.id)}</span>
            {entry.action_description !== null && ` · ${entry.action_description}`}
          </span>
          <span className="row-span-2 row-start-1 text-meta text-text-2">
            <Answer entry={entry} />
          </span>
        </ListBoxItem>
      )}
    </ListBox>
  )
}

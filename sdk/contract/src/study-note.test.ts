import { expect, it } from 'vitest'
import { shortStudyId, studyNote, studyOfNote } from './study-note.ts'

it('names the study of a run, which is found again', () => {
  const note = studyNote('0d3f8a52-4c8f-4d8c-9b62-0a4b1c5e7f00', 'candidate 3')
  expect(note).toBe('tune 0d3f8a52: candidate 3')
  expect(studyOfNote(note)).toBe(shortStudyId('0d3f8a52-4c8f-4d8c-9b62-0a4b1c5e7f00'))
  for (const other of [null, '', 'tune: candidate 3', 'my tune 0d3f8a52: x', 'tune 0d3f8a5g: x'])
    expect(studyOfNote(other)).toBeNull()
})

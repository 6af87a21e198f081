import { Tokenizer } from '@huggingface/tokenizers'

/** Ids of `[CLS]` and `[SEP]`, which stand before and after every text. */
const BEGINNING = 101
const END = 102

/** Splits texts as BERT's uncased models do, whose vocabulary it is given, one word piece a line. */
export class WordPieces {
  readonly #tokenizer: Tokenizer

  constructor(vocabulary: string) {
    const pieces = vocabulary.trimEnd().split('\n')
    const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'].map((content) => ({
      ...{ id: pieces.indexOf(content), content, special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    }))
    const vocab = Object.fromEntries(pieces.map((piece, id) => [piece, id]))
    this.#tokenizer = new Tokenizer(
      {
        added_tokens: special,
        normalizer: {
          type: 'BertNormalizer',
          clean_text: true,
          handle_chinese_chars: true,
          strip_accents: null,
          lowercase: true,
        },
        pre_tokenizer: { type: 'BertPreTokenizer' },
        post_processor: null,
        decoder: null,
        model: {
          type: 'WordPiece',
          unk_token: '[UNK]',
          continuing_subword_prefix: '##',
          max_input_chars_per_word: 100,
          vocab,
        },
      } as never,
      {},
    )
  }

  /** At most `maxTokens` ids: beginning, the text's first word pieces, end. */
  encode(text: string, maxTokens: number): number[] {
    const { ids } = this.#tokenizer.encode(text, { add_special_tokens: false })
    return [BEGINNING, ...ids.slice(0, maxTokens - 2), END]
  }
}

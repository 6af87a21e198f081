import type { ErrorCode } from '@agentgym/contract'
import { goodModel } from '../models/good-models.ts'
import { externalWeights } from '../models/hostile-models.ts'
import { agentEntries, agentTarball } from './good-agent.ts'
import { goodEntries, goodManifest, goodName, goodTarball, goodVersion } from './good-package.ts'
import { archive, gzip, paxEntry, type RawEntry, rawEntry } from './tar-writer.ts'

/** A tarball with one thing wrong, and the code that it has to be refused with. */
export type BadTarball = { name: string; code: ErrorCode; why: string; bytes: Buffer }

function bad(name: string, code: ErrorCode, why: string, bytes: Buffer): BadTarball {
  return { name, code, why, bytes }
}

function withEntries(...more: (RawEntry | Buffer)[]): Buffer {
  return gzip(archive([...goodEntries(), ...more]))
}

function withoutFile(path: string): Buffer {
  return gzip(archive(goodEntries().filter((entry) => entry.path !== path)))
}

function withManifestText(text: string | Buffer): Buffer {
  const [, ...rest] = goodEntries()
  return gzip(archive([{ path: 'package/package.json', body: text }, ...rest]))
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] ^= 0xff
  return copy
}

const good = goodTarball()
const manifestText = String(goodEntries()[0].body)

const compression: BadTarball[] = [
  bad('not-gzip', 'tarball_not_gzip', 'a plain tar', archive(goodEntries())),
  bad('empty', 'tarball_not_gzip', 'no bytes', Buffer.alloc(0)),
  bad('gzip-reserved-flag', 'tarball_not_gzip', 'a flag that RFC 1952 reserves', flipped(good, 3)),
  bad('gzip-truncated', 'tarball_truncated', 'half of the file', good.subarray(0, good.length >> 1)),
  bad('gzip-without-trailer', 'tarball_truncated', 'the checksum at the end is gone', good.subarray(0, -4)),
  bad('gzip-wrong-checksum', 'tarball_corrupt', 'CRC-32 of other data', flipped(good, good.length - 8)),
  bad('gzip-wrong-length', 'tarball_corrupt', 'length of other data', flipped(good, good.length - 4)),
  bad(
    'gzip-trailing-garbage',
    'tarball_trailing_data',
    'text after the end',
    Buffer.concat([good, Buffer.from('more')]),
  ),
  bad(
    'gzip-header-checksum',
    'tarball_entry_unsupported',
    'a wrong checksum of the gzip header, which some readers skip',
    Buffer.concat([good.subarray(0, 3), Buffer.of(2), good.subarray(4, 10), Buffer.alloc(2), good.subarray(10)]),
  ),
  bad('gzip-second-member', 'tarball_trailing_data', 'two gzip files joined', Buffer.concat([good, good])),
]

const archiveForm: BadTarball[] = [
  bad('tar-without-end', 'tarball_truncated', 'no blocks of zeros', gzip(archive(goodEntries(), Buffer.alloc(0)))),
  bad('tar-cut-file', 'tarball_truncated', 'ends within a file', gzip(archive(goodEntries()).subarray(0, 700))),
  bad(
    'tar-after-end',
    'tarball_trailing_data',
    'a second archive after the end',
    gzip(Buffer.concat([archive(goodEntries()), archive(goodEntries())])),
  ),
  bad(
    'tar-lone-zero-block',
    'tarball_trailing_data',
    'a file behind one block of zeros',
    withEntries(Buffer.alloc(512), rawEntry({ path: 'package/hidden.js', body: 'x' })),
  ),
  bad(
    'tar-padding',
    'tarball_trailing_data',
    'data where a block is filled up',
    withEntries({ path: 'package/a.txt', body: 'a', padding: 7 }),
  ),
  bad(
    'tar-checksum',
    'tarball_corrupt',
    'wrong checksum of a header',
    withEntries({ path: 'package/a.txt', checksum: '000001\0 ' }),
  ),
  bad(
    'tar-old-format',
    'tarball_entry_unsupported',
    'a header without ustar',
    withEntries({ path: 'package/a.txt', magic: '' }),
  ),
  bad(
    'tar-base-256-size',
    'tarball_entry_unsupported',
    "GNU's binary size",
    withEntries({ path: 'package/a.txt', size: '\x80\0\0\0\0\0\0\0\0\0\0\0' }),
  ),
  bad(
    'tar-gnu-long-name',
    'tarball_entry_unsupported',
    "GNU's long name",
    withEntries({ path: '././@LongLink', type: 'L', body: 'package/a.txt\0' }),
  ),
  bad(
    'tar-pax-size',
    'tarball_entry_unsupported',
    'a pax size that only some readers take',
    withEntries(paxEntry([['size', '2']]), { path: 'package/a.txt', body: 'abc' }),
  ),
  ...(
    [
      ['newline', 'a newline, where npm begins another record', [['comment', 'x\n24 path=package/evil.js']]],
      ['comment', 'a key that means nothing', [['comment', 'x']]],
      ['unknown-key', 'the target of a link', [['linkpath', 'package/README.md']]],
      ['time', 'a time that is no number', [['mtime', '1\n24 path=package/evil.js']]],
      ['empty-path', 'an empty path', [['path', '']]],
      ['two-sizes', 'a pax header with two sizes', [
        ['size', '1'],
        ['size', '1'],
      ]],
    ] as [string, string, [string, string][]][]
  ).map(([name, why, records]) =>
    bad(
      `tar-pax-${name}`,
      'tarball_entry_unsupported',
      why,
      withEntries(paxEntry(records), { path: 'package/harmless.txt', body: 'x' }),
    ),
  ),
  bad(
    'tar-pax-empty',
    'tarball_entry_unsupported',
    'a pax header without records',
    withEntries({ path: 'PaxHeader/entry', type: 'x' }, { path: 'package/a.txt', body: 'x' }),
  ),
  bad(
    'tar-pax-long',
    'tarball_entry_unsupported',
    'a pax header of two blocks, which npm decodes apart',
    withEntries(paxEntry([['path', `package/${'x'.repeat(600)}`]]), { path: 'package/a.txt', body: 'x' }),
  ),
  bad(
    'tar-mode',
    'tarball_entry_unsupported',
    'a mode on which npm fails, so that it takes the file for headers',
    withEntries({ path: 'package/a.txt', mode: '\x81xxxxxxx', body: rawEntry({ path: 'package/evil.js', body: 'x' }) }),
  ),
  bad(
    'tar-link-target',
    'tarball_entry_unsupported',
    'a file with the target of a link',
    withEntries({ path: 'package/a.txt', link: '/etc/passwd', body: 'x' }),
  ),
  bad(
    'tar-folder-with-size',
    'tarball_corrupt',
    'a folder of 512 bytes, for which some readers wait forever',
    withEntries({ path: 'package/d/', type: '5', body: Buffer.alloc(512) }),
  ),
  bad(
    'tar-pax-two-paths',
    'tarball_entry_unsupported',
    'a pax header with two paths',
    withEntries(
      paxEntry([
        ['path', 'package/a'],
        ['path', 'package/b'],
      ]),
      { path: 'package/a' },
    ),
  ),
  bad(
    'tar-pax-global',
    'tarball_entry_unsupported',
    'a header for all entries',
    withEntries({ path: 'pax_global_header', type: 'g', body: '19 path=package/a.js\n' }),
  ),
  bad(
    'tar-sparse',
    'tarball_entry_unsupported',
    "GNU's sparse file",
    withEntries({ path: 'package/a.txt', type: 'S' }),
  ),
]

const entryTypes: BadTarball[] = [
  bad(
    'symbolic-link',
    'tarball_link',
    'a symbolic link',
    withEntries({ path: 'package/a', type: '2', link: '/etc/passwd' }),
  ),
  bad(
    'hard-link',
    'tarball_link',
    'a hard link',
    withEntries({ path: 'package/a', type: '1', link: 'package/README.md' }),
  ),
  bad('character-device', 'tarball_special_file', 'a device', withEntries({ path: 'package/null', type: '3' })),
  bad('fifo', 'tarball_special_file', 'a FIFO', withEntries({ path: 'package/pipe', type: '6' })),
]

const paths: BadTarball[] = [
  bad('path-absolute', 'tarball_path_absolute', '/etc/cron.d/x', withEntries({ path: '/etc/cron.d/x' })),
  bad('path-drive', 'tarball_path_absolute', 'C:/x', withEntries({ path: 'C:/x' })),
  bad('path-parent', 'tarball_path_traversal', 'package/../../x', withEntries({ path: 'package/../../x' })),
  bad(
    'path-pax-parent',
    'tarball_path_traversal',
    '.. in a pax header',
    withEntries(paxEntry([['path', 'package/../x']]), { path: 'package/a' }),
  ),
  bad(
    'path-dot',
    'tarball_path_traversal',
    'package/./package.json',
    withEntries({ path: 'package/./package.json', body: '{}' }),
  ),
  bad('path-empty-segment', 'tarball_path_traversal', 'package//a', withEntries({ path: 'package//a' })),
  bad(
    'path-file-as-folder',
    'tarball_path_traversal',
    'a file whose path ends in /',
    withEntries({ path: 'package/a/', body: 'x' }),
  ),
  bad('path-outside', 'tarball_path_outside_package', 'other/a', withEntries({ path: 'other/a' })),
  bad('path-nul', 'tarball_path_nul', 'a NUL in the middle', withEntries({ path: 'package/a.txt\0.js' })),
  bad(
    'path-pax-nul',
    'tarball_path_nul',
    'a NUL in a pax header',
    withEntries(paxEntry([['path', 'package/a\0b']]), { path: 'package/a' }),
  ),
  bad('path-backslash', 'tarball_path_backslash', 'package\\..\\x', withEntries({ path: 'package\\..\\x' })),
  bad(
    'path-not-utf-8',
    'tarball_path_encoding',
    'Latin-1',
    withEntries({ path: Buffer.from('package/caf\xe9', 'latin1') }),
  ),
  bad(
    'path-too-long',
    'tarball_path_too_long',
    '250 bytes',
    withEntries(paxEntry([['path', `package/${'a'.repeat(250)}`]]), { path: 'package/a' }),
  ),
  bad(
    'path-colon',
    'tarball_path_not_portable',
    'a stream of another file on Windows',
    withEntries({ path: 'package/README.md:x' }),
  ),
  bad('path-device-name', 'tarball_path_not_portable', 'a device on Windows', withEntries({ path: 'package/con.js' })),
  bad(
    'path-trailing-dot',
    'tarball_path_not_portable',
    'Windows drops the dot',
    withEntries({ path: 'package/README.md.' }),
  ),
  bad(
    'path-right-to-left',
    'tarball_path_not_portable',
    'shown as another name',
    withEntries({ path: 'package/a\u202egnp.js' }),
  ),
  bad(
    'path-duplicate',
    'tarball_path_duplicate',
    'README.md twice',
    withEntries({ path: 'package/README.md', body: '#' }),
  ),
  bad(
    'path-two-manifests',
    'tarball_path_duplicate',
    'package.json twice',
    withEntries({ path: 'package/package.json', body: '{}' }),
  ),
  bad('path-case', 'tarball_path_collision', 'README.md and ReadMe.md', withEntries({ path: 'package/ReadMe.md' })),
  bad(
    'path-accent',
    'tarball_path_collision',
    'é as one and as two characters',
    withEntries({ path: 'package/caf\u00e9' }, { path: 'package/cafe\u0301' }),
  ),
  bad(
    'path-file-and-folder',
    'tarball_path_collision',
    'src is a folder and a file',
    withEntries({ path: 'package/src', body: 'x' }),
  ),
  bad(
    'path-known-case',
    'tarball_path_collision',
    'Dist/Scenario.js in place of dist/scenario.js',
    gzip(
      archive(
        goodEntries().map((entry) =>
          entry.path === 'package/dist/scenario.js' ? { ...entry, path: 'package/Dist/Scenario.js' } : entry,
        ),
      ),
    ),
  ),
  bad(
    'path-known-model',
    'tarball_path_collision',
    'Model.ONNX in a scenario',
    withEntries({ path: 'package/Model.ONNX', body: 'x' }),
  ),
  bad('path-folder-case', 'tarball_path_collision', 'src/ and SRC/', withEntries({ path: 'package/SRC/a.js' })),
]

const manifests: BadTarball[] = [
  bad('manifest-missing', 'package_manifest_missing', 'no package.json', withoutFile('package/package.json')),
  bad(
    'manifest-too-large',
    'package_manifest_too_large',
    '300 KiB',
    withManifestText(manifestText + ' '.repeat(300 * 1024)),
  ),
  bad('manifest-not-json', 'package_manifest_not_json', 'a trailing comma', withManifestText('{"name":"@t/maze",}')),
  bad(
    'manifest-not-utf-8',
    'package_manifest_not_json',
    'Latin-1',
    withManifestText(Buffer.from('{"name":"caf\xe9"}', 'latin1')),
  ),
  bad(
    'manifest-byte-order-mark',
    'package_manifest_not_json',
    'a byte order mark',
    withManifestText(`\ufeff${manifestText}`),
  ),
  bad('manifest-array', 'package_manifest_not_json', 'a list', withManifestText('[]')),
  bad(
    'manifest-nul',
    'package_manifest_not_json',
    'a NUL in a text',
    withManifestText(manifestText.replace('Maze', 'Ma\\u0000ze')),
  ),
  bad(
    'manifest-duplicate-key',
    'package_manifest_duplicate_key',
    'scripts twice',
    withManifestText(manifestText.replace('{', '{"scripts":{"postinstall":"x"},"\\u0073cripts":{},')),
  ),
  bad(
    'manifest-proto',
    'package_manifest_forbidden_key',
    '__proto__',
    withManifestText(manifestText.replace('{', '{"__proto__":{"a":1},')),
  ),
  bad('name-other', 'package_name_mismatch', 'another name', goodTarball({ name: '@t/other' })),
  bad('version-other', 'package_version_mismatch', 'another version', goodTarball({ version: '1.0.1' })),
  bad('manifest-without-agentgym', 'manifest_invalid', 'no field agentgym', goodTarball({ agentgym: undefined })),
  bad('marked-private', 'package_marked_private', 'private: true', goodTarball({ private: true })),
  bad('license-missing', 'package_license_missing', 'no licence', goodTarball({ license: undefined })),
  bad('readme-missing', 'package_readme_missing', 'no README', withoutFile('package/README.md')),
  bad(
    'readme-placeholder',
    'package_readme_placeholder',
    'a line of the template in the README',
    gzip(
      archive(
        goodEntries().map((entry) =>
          entry.path === 'package/README.md' ? { ...entry, body: Buffer.from('# Maze\n\n[REPLACE: rules]\n') } : entry,
        ),
      ),
    ),
  ),
  bad(
    'summary-placeholder',
    'package_summary_placeholder',
    'the summary of the template',
    goodTarball({ agentgym: { ...goodManifest.agentgym, summary: '[REPLACE: what the agent learns]' } }),
  ),
  bad(
    'readme-binary',
    'package_readme_invalid',
    'a README that is not text',
    gzip(
      archive(
        goodEntries().map((entry) =>
          entry.path === 'package/README.md' ? { ...entry, body: Buffer.from([0xff, 0xfe]) } : entry,
        ),
      ),
    ),
  ),
  bad('bundle-missing', 'package_bundle_missing', 'no dist/scenario.js', withoutFile('package/dist/scenario.js')),
  ...['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].map((script) =>
    bad(
      `script-${script}`,
      'package_install_script',
      `a script ${script}`,
      goodTarball({ scripts: { [script]: 'node x.js' } }),
    ),
  ),
  bad('executable', 'package_executable', 'bin', goodTarball({ bin: { maze: 'src/index.ts' } })),
  bad('executable-folder', 'package_executable', 'directories.bin', goodTarball({ directories: { bin: './bin' } })),
  bad(
    'native-gyp',
    'package_native_code',
    'binding.gyp',
    goodTarball({}, [{ path: 'package/binding.gyp', body: '{}' }]),
  ),
  bad(
    'native-module',
    'package_native_code',
    'a .node file',
    goodTarball({}, [{ path: 'package/lib/a.node', body: 'x' }]),
  ),
  bad('native-field', 'package_native_code', 'gypfile: true', goodTarball({ gypfile: true })),
  ...[
    'workspace:*',
    'file:../x',
    'link:../x',
    'git+https://example.org/x.git',
    'https://example.org/x.tgz',
    'acme/x',
  ].map((wanted, index) =>
    bad(
      `dependency-${index + 1}`,
      'package_dependency_forbidden',
      wanted,
      goodTarball({ dependencies: { x: wanted } }),
    ),
  ),
  bad(
    'dependency-development',
    'package_dependency_forbidden',
    'workspace: in devDependencies',
    goodTarball({ devDependencies: { x: 'workspace:^' } }),
  ),
  bad(
    'dependencies-bundled',
    'package_dependencies_bundled',
    'bundleDependencies',
    goodTarball({ bundleDependencies: ['x'] }),
  ),
  bad(
    'dependencies-carried',
    'package_dependencies_bundled',
    'a node_modules folder',
    goodTarball({}, [{ path: 'package/node_modules/x/index.js', body: 'x' }]),
  ),
]

const clientFiles: BadTarball[] = [
  'npm-shrinkwrap.json',
  'NPM-Shrinkwrap.json',
  'package-lock.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lockb',
  '.npmrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  'examples/one/npm-shrinkwrap.json',
].map((path, index) =>
  bad(`client-file-${index + 1}`, 'package_client_file', path, withEntries({ path: `package/${path}`, body: '{}' })),
)

const asGood = { name: goodName, version: goodVersion }
const agents: BadTarball[] = [
  bad(
    'agent-no-summary',
    'package_summary_missing',
    'an agent without a summary',
    agentTarball({ ...asGood, description: undefined }),
  ),
  bad(
    'agent-generated-summary',
    'package_summary_missing',
    'the description that training wrote',
    agentTarball({ ...asGood, description: 'Agent trained on @t/maze@1.0.0' }),
  ),
  bad(
    'agent-without-model',
    'agent_invalid',
    'no model.onnx',
    gzip(archive(agentEntries(asGood).filter(({ path }) => path !== 'package/model.onnx'))),
  ),
  bad(
    'agent-without-manifest',
    'agent_invalid',
    'no agent.json',
    gzip(archive(agentEntries(asGood).filter(({ path }) => path !== 'package/agent.json'))),
  ),
  bad(
    'agent-other-model',
    'agent_invalid',
    'another model than agent.json names',
    agentTarball(asGood, { model_hash: 'c'.repeat(64) }),
  ),
  bad(
    'agent-no-model',
    'model_malformed',
    'text in the place of the model',
    agentTarball(asGood, {}, Buffer.from('this is no model\n')),
  ),
  bad(
    'agent-external-data',
    'model_external_data',
    'a model whose weights lie in another file',
    agentTarball(asGood, {}, externalWeights),
  ),
  bad(
    'agent-ort-format',
    'model_format_forbidden',
    "a model in ONNX Runtime's own format",
    agentTarball(asGood, {}, Buffer.from('180000004f52544d000000000c00100000000c0008000400', 'hex')),
  ),
  bad(
    'agent-not-canonical',
    'model_not_canonical',
    'a model whose fields are out of order',
    agentTarball(asGood, {}, goodModel({ model: [[2, 'an exporter']] })),
  ),
  bad(
    'agent-unknown-field',
    'agent_invalid',
    'a field that agent.json has not',
    agentTarball(asGood, { verified: true }),
  ),
  bad(
    'agent-duplicate-key',
    'agent_invalid',
    'a key twice in agent.json',
    gzip(
      archive(
        agentEntries(asGood).map((entry) =>
          entry.path === 'package/agent.json'
            ? { ...entry, body: String(entry.body).replace('{', '{"seed":7,') }
            : entry,
        ),
      ),
    ),
  ),
]

export const badTarballs: BadTarball[] = [
  ...compression,
  ...archiveForm,
  ...entryTypes,
  ...paths,
  ...manifests,
  ...clientFiles,
  ...agents,
]

#include "server/settings/settings_documentation.h"

#include "server/settings/settings_values.h"

namespace alate::server {
namespace {

constexpr std::string_view kIntroduction = R"(# Configuration

This page is made from the table of settings in `src/server/settings/settings_table.cpp`; a test holds it to that.

## Where a setting comes from
A setting is taken from the first of these that gives it:

1. the option on the command line: `--batch-max-tokens 4096`
2. the environment variable: `ALATE_BATCH_MAX_TOKENS=4096` (an empty one counts as unset)
3. the configuration file: `batch: {max_tokens: 4096}`
4. variables of other systems, as a wish that is never an error: `TERMITE_GPU`, `TERMITE_FORCE_COREML` (gpu),
   `GOMLX_BACKEND`, `MLX_BACKEND` (backend_priority), `HF_HUB_OFFLINE` (offline)
5. its default

The file is the one that `--config FILE` or `ALATE_CONFIG` names, else `$XDG_CONFIG_HOME/alate/alate.yaml`
(`~/.config/alate/alate.yaml`) where it exists; no other file is looked for. `alate serve` logs which one it read.
Every command reads it and takes from it what all commands share.

The file is YAML. Parts of a key are nested: `batch.max_tokens` is `max_tokens` under `batch`. A key that does not
exist is an error that names the nearest one there is; in a file called `termite.yaml` it is a warning. A key that is
there twice, a value of the wrong type or out of its range, anchors, aliases, a second document and a file over 1 MiB
are errors; they name the file, line and column. A key without a value counts as left out. Times are numbers with a
unit (`250ms`, `30s`, `5m`, `1h30m`); a number alone is seconds. As options and variables, lists are written with
commas.

`alate serve --check-config` says what is wrong, certificates included, and ends with exit code 2. Models that the
settings name, or the only one there is, are checked as far as they can be without loading them; where only they are at
fault, the exit code is that of `alate embed`. If nothing is wrong, it prints all settings as the server would use
them, keys of clients hidden, and ends with 0. With `--output json` they are JSON.

```yaml
host: 0.0.0.0
port: 11433
models_dir: /srv/models
preload: [sentence-transformers/all-MiniLM-L6-v2]
aliases: {text-embedding-3-small: all-MiniLM-L6-v2}
keep_alive: 0
api_keys: [one-key, {key: another-key, role: admin}]
tls:
  cert: /etc/alate/cert.pem
  key: /etc/alate/key.pem
batch:
  max_tokens: 4096
log:
  style: json
```

## Settings
)";

// Escapes "|", which ends a table cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string shown_default(const Setting& setting) {
  if (setting.key == "models_dir") return "`models` in the cache folder";
  if (setting.key == "model") return "the only one of `models_dir`, else `builtin:minilm`";
  const formats::Json value = value_of(Settings(), setting);
  if (value.is_null() || setting.is_secret) return "none";
  const std::string text = value.is_string() ? value.as_string(setting.key) : formats::to_json_text(value);
  return text.empty() || text == "[]" || text == "{}" ? "none" : "`" + text + "`";
}

void append_row(std::string& out, const Setting& setting) {
  const std::string variable = environment_variable(setting);
  out += "| `" + std::string(setting.key) + "` | ";
  if (!setting.option.empty()) out += "`" + std::string(setting.option) + "`, `" + variable + "`";
  out +=
      " | " + cell(setting.sentence) + " | " + cell(allowed_values(setting)) + " | " + shown_default(setting) + " |\n";
}

}  // namespace

std::string settings_documentation() {
  std::string out(kIntroduction);
  for (const Setting& setting : settings_table()) {
    if (!setting.title.empty()) {
      out += "\n### " + std::string(setting.title) + "\n";
      if (setting.scope == SettingScope::commands)
        out += "Of the commands that answer by themselves, not of the server.\n";
      out += "\n| key | option, variable | what | allowed | default |\n|---|---|---|---|---|\n";
    }
    append_row(out, setting);
  }
  return out + R"(
`unix_socket` without `host` and `port` is the only place where the server listens. Where `content_security` is set,
the server says at its start that it has no effect; `allow_downloads` has none without `download_owners` (`docs/pull.md`). What a machine can compute on, and what
`backend_priority`, `device`, `gpu` and `policy` come to there, `alate backends` and `alate doctor MODEL` say. Other users of the machine can see the options of a running program: `api_keys` belong into the file or the
variable.

An entry of `api_keys` is a key for models (the role `use`), or has another role: `{key: KEY, role: admin}` in the file, and
`admin KEY` in options and variables, where no key has a space. The role `metrics` opens `/metrics` and nothing else. The role
`admin` opens everything, and it alone `/v2/repository/…` (which loads and unloads models), `/api/ps` and `/debug/backends`;
a server without keys answers these to clients on its own machine alone. Only they have a model unloaded earlier by a request's `keep_alive` (`clients.md`).

`aliases` are for clients whose model names cannot be changed: with `aliases: {text-embedding-3-small: all-MiniLM-L6-v2}` a request for
`text-embedding-3-small` gets all-MiniLM-L6-v2. An alias stands for a model of `models_dir` or a built-in one, which must exist when the
server starts, and never for another alias; it cannot be the name of a model that is there. `/v1/models` and `/api/tags` list aliases
too. A key may use an alias where it may use the model.

`indexes` are for `POST /api/search` (`search.md`): with `indexes: {notes: /srv/notes.index}` a client may search `notes`, a folder that `alate
index` made, and which must be there when the server starts. It is opened again when its file has been replaced; its model must be one that clients may name.

`cors` names pages by their origin. Pictures, scripts and links in pages of other sites have none and are refused (403), unless `cors` is `*`; links to `/` and `/docs` work.

With `max_loaded_models: auto` a server keeps one model for each 512 MB of memory that is free at its start, but from 4 to 64.
Clients may name only backends that `backend_priority` names, or, where that is empty, those of the automatic order (`alate
backends` shows which there are here).
)";
}

}  // namespace alate::server

# shellcheck shell=bash
# Density on the hosts of an Ansible inventory, one database each (deploy/ansible).

ansible=$checkout/deploy/ansible
inventory=$(readlink -f "${option[inventory]}")
[ -e "$inventory" ] || wrong "--inventory: ${option[inventory]} does not exist: expected an inventory of Ansible"
take_folder 200
command -v ansible-playbook >/dev/null ||
  fail "ansible-playbook was not found: install ansible-core 2.14 or newer, such as: apt-get install ansible-core"
export ANSIBLE_CONFIG=${ANSIBLE_CONFIG-$ansible/ansible.cfg}

play() { ansible-playbook -i "$inventory" "$ansible/$1" "${@:2}"; }
mapfile -t hosts < <(ansible -i "$inventory" all --list-hosts 2>"$work/inventory.log" | sed -n 's/^    //p')
[ "${#hosts[@]}" -gt 0 ] || fail "$inventory has no hosts: $(tail -n 1 "$work/inventory.log")"
count=${option[databases]:-${#hosts[@]}}
[ "$count" -le "${#hosts[@]}" ] || wrong "--databases: $inventory has ${#hosts[@]} hosts, and so no $count databases"
steps=${option[steps]:-$(seq -s, "$count")}
[[ $steps =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || wrong "--steps: expected numbers of databases, such as 1,2,4,8, got $steps"
IFS=, read -ra steps <<<"$steps"
for step in "${steps[@]}"; do
  [ "$step" -le "$count" ] || wrong "--steps: there are $count databases, and so no step of $step"
done

clients=${option[clients]:-4}
export FLEET_COMMAND="pgbench -n -S -c $clients -j $clients ${option[rate]:+-R ${option[rate]}} -P 1 -T ${option[seconds]}"
name=density-$stamp
variables() { # RUN
  RUN=$1 RUNS=$runs python3 -c '
import json, os
print(json.dumps({
    "benchwatch_name": os.environ["RUN"], "benchwatch_collect_to": os.environ["RUNS"],
    "benchwatch_command": os.environ["FLEET_COMMAND"],
    "benchwatch_check": "psql -XAtc \"select 1 from pgbench_accounts limit 1\"",
}))'
}

# What runs have in common, and the point of the sweep that a run is, so that show and report draw the curve.
write_record() { # RUN STEP
  RUN=$1 STEP=$2 NAME=$name HYPERVISOR=${option[hypervisor]} AOS=${option[aos]} CPU=${option[cpu]} "$bin/python" - "$runs/$1" <<'PYTHON'
import os, pathlib, sys, yaml
folder = pathlib.Path(sys.argv[1])
found = {}
for path in sorted(folder.glob("*.yaml")):
    parameters = yaml.safe_load(path.read_text()).get("parameters", {})
    for label, fact in (("hypervisor", "host.product"), ("cpu", "host.cpu_model")):
        if value := parameters.get(fact) or parameters.get(f"client.{fact}"):
            found.setdefault(label, set()).add(value)
kind = {label: ", ".join(sorted(values)) for label, values in found.items()}
kind |= {name: value for name in ("hypervisor", "aos", "cpu") if (value := os.environ[name.upper()])}
point = {"of": os.environ["NAME"], "point": {"databases": os.environ["STEP"]}, "order": "given"}
labels = {**kind, "sweep": os.environ["NAME"], "databases": os.environ["STEP"]}
(folder / "run.yaml").write_text(yaml.safe_dump({"labels": labels, "sweep": point}, sort_keys=False))
print(", ".join(f"{name} {value}" for name, value in kind.items()))
PYTHON
}

done=()
for step in "${steps[@]}"; do
  run=$name-databases$step
  say "run $run: ${#done[@]} of ${#steps[@]} steps done; $step of $count databases, ${option[seconds]} s"
  limit=$(IFS=,; echo "${hosts[*]:0:step}")
  if ! play run.yml --limit "$limit" -e "$(variables "$run")" >"$work/$run.log" 2>&1; then
    grep -A 30 -e '^fatal' -e '^\[ERROR\]' "$work/$run.log" | sed -n 's/^ *"\(.*: .*\)",\{0,1\}$/  \1/p' | sort -u >&2
    cp "$work/$run.log" "$folder/$run.log"
    echo "${0##*/}: run $run went wrong: see $folder/$run.log" >&2
    break
  fi
  kind=$(write_record "$run" "$step")
  done+=("$run")
done

[ "${#done[@]}" -gt 0 ] || exit 1
say "done; in $runs:"
measured=()
[ -z "${option[prometheus]}" ] || measured=(--prometheus "${option[prometheus]}" --controllers "${option[controllers]:?expected the hosts of the CVMs, such as --controllers=cvm.*}")
(cd "$runs" && "$bin/python" "$checkout/tests/experiments/density_figures.py" --picture "$runs/$name.png" --title "$kind" "${measured[@]}" "${done[@]}")
say "curve: benchwatch report $runs/$name"
[ "${#done[@]}" -eq "${#steps[@]}" ]

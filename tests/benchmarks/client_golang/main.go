// Renders gauges of vdisks with Go's client of Prometheus, for exposition.py beside it.
//
// client_golang CVMS VDISKS FAMILIES; for each line on stdin it changes every gauge, renders the page as text, and
// prints how many nanoseconds of processor time that took and how many bytes the page has.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func processorTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	cvms, vdisks, families := number(os.Args[1]), number(os.Args[2]), number(os.Args[3])
	registry := prometheus.NewRegistry()
	var gauges []prometheus.Gauge
	for family := range families {
		name := fmt.Sprintf("nutanix_vdisk_value_%d_per_second", family)
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: "A value."}, []string{"cvm", "vdisk", "op"})
		registry.MustRegister(vec)
		for cvm := range cvms {
			for vdisk := range vdisks {
				gauges = append(gauges, vec.WithLabelValues(fmt.Sprintf("cvm%d", cvm), strconv.Itoa(50000+vdisk), "read"))
			}
		}
	}
	var page bytes.Buffer
	requests := bufio.NewScanner(os.Stdin)
	for round := 1; requests.Scan(); round++ {
		began := processorTime()
		for index, gauge := range gauges {
			gauge.Set(float64(index) * (float64(round) + 0.123456789))
		}
		page.Reset()
		found, err := registry.Gather()
		if err != nil {
			panic(err)
		}
		encoder := expfmt.NewEncoder(&page, expfmt.NewFormat(expfmt.TypeTextPlain))
		for _, family := range found {
			if err := encoder.Encode(family); err != nil {
				panic(err)
			}
		}
		fmt.Println(processorTime()-began, page.Len())
	}
}
